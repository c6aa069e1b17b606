/**
 * The annotation `rollout.kuberik.com/deployed`: `<rollout>=<id>/<version>/<uid>`, several joined with `,`, sorted by
 * Rollout. The version is percent-encoded, since a hand-written history may contain anything.
 */
import type { Stamp } from '../../api/types.ts';

const ENTRY = /^([a-z0-9.-]+)=(\d{1,15})\/([^/,]*)\/([A-Za-z0-9-]+)$/;

export function formatStamps(stamps: readonly Stamp[]): string {
  return [...stamps]
    .sort((a, b) => (a.rollout < b.rollout ? -1 : 1))
    .map((s) => `${s.rollout}=${s.id}/${encodeURIComponent(s.version)}/${s.uid}`)
    .join(',');
}

/** Entries that are not stamps are left out: nobody's text counts for more than it proves. */
export function parseStamps(text: string | undefined): Stamp[] {
  if (!text) return [];
  return text.split(',').flatMap((part) => {
    const [, rollout, id, version, uid] = ENTRY.exec(part) ?? [];
    if (rollout === undefined) return [];
    try {
      return [{ rollout, id: Number(id), version: decodeURIComponent(version!), uid: uid! }];
    } catch {
      return [];
    }
  });
}
