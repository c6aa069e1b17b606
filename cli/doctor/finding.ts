/** Findings of the doctor, and reads for its checks. A list that the user can't read is noted as not checked. */
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { Collection, KubeClient } from '../../connection/kube/kubeClient.ts';
import { listIfReadable } from '../../connection/read/optionalReads.ts';

export interface Finding {
  /** `problem`: something does not work, or will not. `unseen`: not checked. */
  level: 'fine' | 'problem' | 'unseen';
  /** The subject of the check, in a word or two: `Webhooks`. */
  about: string;
  text: string;
  /** The next step, or a page to read. */
  fix?: string;
  /** A complete command line, safe to copy. */
  command?: string;
}

export const fine = (about: string, text: string): Finding => ({ level: 'fine', about, text });
export const notChecked = (about: string, text: string): Finding => ({ level: 'unseen', about, text });
export const problem = (about: string, text: string, fix: string, command?: string): Finding => ({
  level: 'problem',
  about,
  text,
  fix,
  ...(command !== undefined && { command }),
});

/** The findings; without any, one that everything is fine. */
export function findingsOrFine(about: string, findings: readonly Finding[], text: string): Finding[] {
  return findings.length > 0 ? [...findings] : [fine(about, text)];
}

export interface CheckInputs {
  client: KubeClient;
  /** The namespace to check; undefined: the whole cluster. */
  namespace: string | undefined;
  /** The namespace for dry runs. */
  home: string;
  now(): EpochMs;
  signal: AbortSignal;
}

export type Check = (inputs: CheckInputs) => Promise<Finding[]>;

/** The reads of a check. A list is undefined if the user can't read it; `notes` has one finding for all of them. */
export function reader({ client, namespace }: CheckInputs, about: string) {
  const unread = new Set<string>();
  const list = async <T extends AnyObject>(from: Collection): Promise<T[] | undefined> => {
    const found = await listIfReadable<T>(client, from);
    if (Array.isArray(found)) return found;
    if (found === 'absent') return [];
    unread.add(`${from.resource}${from.namespace ? ` in ${from.namespace}` : ''}`);
    return undefined;
  };
  /** `scope`: another namespace than that of the inputs; undefined: all. */
  const kind = <T extends AnyObject>(name: KindName, scope = { namespace }) =>
    list<T>({ ...resourceOf(KINDS[name]), ...scope });
  const notes = () =>
    unread.size > 0 ? [notChecked(about, `you aren't allowed to list ${[...unread].sort().join(', ')}`)] : [];
  return { list, kind, notes };
}
