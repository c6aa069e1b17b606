/**
 * `status.revision`: compare-and-swap for a status that Metacontroller writes from a possibly stale read. The CRDs
 * reject any other revision than the next (docs/adr/0003-status-revision.md), so of two syncs that read the same status
 * one is stored.
 */
import type { KubeObject } from '../../api/kubernetes.ts';
import { sameJson, toWellFormedJson } from './json.ts';

interface Revised {
  revision?: number;
  observedGeneration?: number;
}

/** The status to answer with: as stored if nothing changes, else with the next revision. */
export function withRevision<Status extends object>(object: KubeObject<any, Status>, answer: Status): Status {
  const next = toWellFormedJson(answer);
  const stored: Status & Revised = object.status ?? ({} as Status);
  const { generation } = object.metadata;
  const unchanged = sameJson(contentOf(stored), contentOf(next));
  if (unchanged && object.status && (generation === undefined || stored.observedGeneration === generation))
    return stored;
  return {
    ...contentOf(next),
    ...(generation !== undefined && { observedGeneration: generation }),
    revision: nextRevision(object),
  } as Status;
}

/** The revision of the next status that differs from the stored one. */
export function nextRevision({ status }: KubeObject<any, Revised>): number {
  return (status?.revision ?? 0) + 1;
}

function contentOf<Status extends object>({ revision, observedGeneration, ...content }: Status & Revised): object {
  return content;
}
