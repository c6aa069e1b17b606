/** Checks each stored version of a Rollout, and each change from one to the next. */
import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from '../client/send.ts';

const ACTIVE = new Set(['Deploying', 'InProgress']);
const FINAL = new Set(['Succeeded', 'Failed', 'Cancelled']);

type Entry = AnyObject & { id: number; bakeStatus: string };

/**
 * A function that takes the stored versions of one Rollout in order, and returns the violations in each.
 * @param hasIds whether the webhook has given each request so far an id of its own
 */
export function rolloutChecker(hasIds: () => boolean = () => true): (version: AnyObject) => string[] {
  const repeatedRequests = repeatedRequestChecker();
  let before: AnyObject | undefined;
  return (version) => {
    const problems = [
      ...versionProblems(version),
      ...(before ? changeProblems(before, version) : []),
      ...(hasIds() ? repeatedRequests(version) : []),
    ];
    before = version;
    return problems;
  };
}

const historyOf = ({ status }: AnyObject): Entry[] => status?.history ?? [];

function versionProblems(version: AnyObject): string[] {
  const history = historyOf(version);
  const at = `at revision ${version.status?.revision}`;
  const active = history.filter(({ bakeStatus }) => ACTIVE.has(bakeStatus));
  const wrongIds = history.some(({ id }, i) => id !== history[0]!.id - i);
  return [
    ...(active.length > 1 || (active.length === 1 && active[0] !== history[0])
      ? [`${at}: ${active.map(({ id, bakeStatus }) => `${id} ${bakeStatus}`).join(', ')} of ${history.length}`]
      : []),
    ...(wrongIds ? [`${at}: ids ${history.map(({ id }) => id).join()}`] : []),
  ];
}

function changeProblems(before: AnyObject, after: AnyObject): string[] {
  const problems: string[] = [];
  const at = `at revision ${after.status?.revision}`;
  const changed = !isDeepStrictEqual(before.status, after.status);
  const steps = (after.status?.revision ?? 0) - (before.status?.revision ?? 0);
  if (steps !== (changed ? 1 : 0)) problems.push(`${at}: the revision moved by ${steps}`);

  const [old, now] = [historyOf(before), historyOf(after)];
  const added = (now[0]?.id ?? 0) - (old[0]?.id ?? 0);
  if (added !== 0 && added !== 1) problems.push(`${at}: ${added} new entries at once`);
  old.forEach((entry, i) => {
    const same = now[i + added];
    // A history that is longer than its limit loses its oldest entries.
    if (!same && added > 0) return;
    const identity = ({ id, version, timestamp }: Entry) => [id, version.tag, timestamp];
    if (!same || !isDeepStrictEqual(identity(same), identity(entry)))
      problems.push(`${at}: entry ${entry.id} was rewritten`);
    // Only the head changes, and the entry that a new head has just replaced.
    else if (i > 0 && !isDeepStrictEqual(same, entry)) problems.push(`${at}: entry ${entry.id} changed after its time`);
  });
  const [head] = old;
  const successor = added === 1 ? now[1] : now[0];
  if (
    head &&
    successor &&
    FINAL.has(head.bakeStatus) &&
    !isDeepStrictEqual(outcomeOf(head), outcomeOf(successor)) &&
    !isRetry(head, successor)
  )
    problems.push(
      `${at}: ${head.id} went from ${outcomeOf(head).join(' at ')} to ${outcomeOf(successor).join(' at ')}`,
    );
  return problems;
}

const outcomeOf = ({ bakeStatus, bakeEndTime }: Entry) => [bakeStatus, ...(bakeEndTime ? [bakeEndTime] : [])];

const isRetry = (before: Entry, after: Entry) =>
  before.bakeStatus === 'Failed' && before.lastRetryTimestamp !== after.lastRetryTimestamp;

/** Finds request ids that are handled again after they were dropped with their annotation. */
function repeatedRequestChecker(): (version: AnyObject) => string[] {
  const gone = new Set<string>();
  let current = new Set<string>();
  return ({ status }) => {
    const handled = new Set(Object.entries(status?.handledRequest ?? {}).map(([key, uid]) => `${key}=${uid}`));
    for (const id of current) if (!handled.has(id)) gone.add(id);
    current = handled;
    return [...handled].filter((id) => gone.has(id)).map((id) => `${id} was handled a second time`);
  };
}
