/**
 * Checks outcomes of deployments against the truth about their versions: a broken version never succeeds, one that
 * works never fails, and every deployment ends within the time that docs/rollouts.md and docs/healthchecks.md promise.
 */
import type { AnyObject } from '../client/send.ts';

interface Truth {
  /** A version by its tag: whether it works, and how it behaves, for messages. */
  versionOf(tag: string): { isBroken: boolean; name: string };
  /** The longest time from the start of a deployment or retry to its end. */
  longestMs: number;
}

interface Stored {
  at: number;
  object: AnyObject;
}

const ENDED = ['Succeeded', 'Failed', 'Cancelled'];

/** Violations in the stored versions of one Rollout, in order, until `now`. */
export function wrongOutcomes(versions: readonly Stored[], { versionOf, longestMs }: Truth, now: number): string[] {
  const found = new Set<string>();
  const begun = new Map<number, number>();
  const ended = new Set<number>();
  const late = (id: number, at: number) => at - (begun.get(id) ?? at) > longestMs;
  for (const { at, object } of versions) {
    for (const { id, version, bakeStatus } of object.status?.history ?? []) {
      const { isBroken, name } = versionOf(version.tag);
      const deployment = `deployment ${id} of ${version.tag} (${name})`;
      if (!begun.has(id)) begun.set(id, at);
      if (bakeStatus === 'Succeeded' && isBroken) found.add(`${deployment}, which is broken, has Succeeded`);
      if (bakeStatus === 'Failed' && !isBroken) found.add(`${deployment}, which works, has Failed`);
      if (!ended.has(id) && late(id, at)) found.add(`${deployment} is ${bakeStatus} for too long`);
      if (ENDED.includes(bakeStatus)) ended.add(id);
    }
  }
  for (const id of begun.keys()) if (!ended.has(id) && late(id, now)) found.add(`deployment ${id} never ends`);
  return [...found];
}
