/** What every check is handed, and how it reads: what the reader may not see is noted, not fatal. */
import type { KindName } from '../../api/kinds.ts';
import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import { type Finding, unseen } from '../../client/explain/doctor/finding.ts';
import { type Collection, isApiError, type KubeClient } from '../kube/client.ts';

export interface Examined {
  client: KubeClient;
  /** undefined: the whole cluster. */
  namespace: string | undefined;
  /** Where something may be tried, by a dry run. */
  home: string;
  now(): EpochMs;
  signal: AbortSignal;
}

export type Check = (examined: Examined) => Promise<Finding[]>;

/** The list, or undefined with a note in `notes`. What is not served there is none of. */
export async function seen<T extends KubeObject<any, any>>(
  client: KubeClient,
  from: Collection,
  about: string,
  notes: Finding[],
): Promise<T[] | undefined> {
  try {
    return await client.list<T>(from);
  } catch (error) {
    if (isApiError(error, 404)) return [];
    if (!isApiError(error, 403)) throw error;
    notes.push(
      unseen(about, `${from.resource}${from.namespace ? ` in ${from.namespace}` : ''}: you may not list them`),
    );
    return undefined;
  }
}

export function ofKind<T extends KubeObject<any, any>>(
  { client, namespace }: Examined,
  kind: KindName,
  about: string,
  notes: Finding[],
): Promise<T[] | undefined> {
  return seen<T>(client, { ...resourceOf(KINDS[kind]), namespace }, about, notes);
}
