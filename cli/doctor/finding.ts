/** Findings of the doctor, and the reads of its checks. A list that the user can't read is noted as not checked. */
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { type Collection, isApiError, type KubeClient } from '../../connection/kube/kubeClient.ts';
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

/** A finding; without `about`, of the subject of its check. */
export type Found = Omit<Finding, 'about'> & { about?: string };

export const fine = (text: string): Found => ({ level: 'fine', text });
export const notChecked = (text: string): Found => ({ level: 'unseen', text });
export const problem = (text: string, fix: string, command?: string): Found => ({
  level: 'problem',
  text,
  fix,
  ...(command !== undefined && { command }),
});

/** The problem, if it is one. */
export const problemIf = (isSo: boolean, ...about: Parameters<typeof problem>): Found[] =>
  isSo ? [problem(...about)] : [];

/** The findings; without any, one that everything is fine. */
export function findingsOrFine(findings: readonly Found[], text: string): Found[] {
  return findings.length > 0 ? [...findings] : [fine(text)];
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

/** The check of a subject, with one finding for all that the user can't read. `forbidden`: the text of a denial. */
export function checkOf(
  about: string,
  find: (inputs: CheckInputs & Reads) => Promise<Found[]>,
  forbidden?: string,
): Check {
  return async (inputs) => {
    const reads = readsOf(inputs);
    const found = await find({ ...inputs, ...reads }).catch((error) => {
      // Without an answer from the API server there is nothing to check.
      if (!isApiError(error) || error.code === 0 || error.code === 401) throw error;
      return [notChecked(error.code === 403 && forbidden ? forbidden : error.message)];
    });
    const unread = [...reads.unread].sort().join(', ');
    const all = unread === '' ? found : [...found, notChecked(`you aren't allowed to list ${unread}`)];
    return all.map(({ level, ...each }) => ({ level, about, ...each }));
  };
}

export type Reads = ReturnType<typeof readsOf>;

/** The reads of a check. A list is undefined if the user can't read it; `unread` has its name then. */
export function readsOf({ client, namespace }: CheckInputs) {
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
  return { list, kind, unread };
}
