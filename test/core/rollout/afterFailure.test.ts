/** What follows a failed version, whatever else happens: answers are lost, annotations stay, and people change their minds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../api/types.ts';
import { parseTime } from '../../../core/kube/time.ts';
import type { Plan } from '../../../core/rollout/plan.ts';
import { failingCourse, type Life, live } from './life.ts';

const isManual = ({ message }: HistoryEntry) => message?.startsWith('Manual') ?? false;
const succeededBeside = (tag: string) => (entry: HistoryEntry) =>
  entry.bakeStatus === 'Succeeded' && entry.version.tag !== tag;

/** The history without what this plan adds, and with what it says of the head before: that may have failed in this very step. */
function pastOf({ status }: Life, { status: { history = [] } }: Plan): HistoryEntry[] {
  const [last, ...older] = status.history ?? [];
  return last ? [history[1] ?? { ...last, bakeStatus: 'Failed' }, ...older] : [];
}

/** Where a rollback would go to; undefined where there is none to make. */
function wayBack({ state, rejected }: Life, [failed, ...older]: HistoryEntry[]): string | undefined {
  const spec = state.rollout.spec!;
  const isDue = spec.onFailure === 'Rollback' && failed?.bakeStatus === 'Failed' && failed.rolledBackFrom === undefined;
  if (!isDue) return undefined;
  const good = older.findIndex(succeededBeside(failed.version.tag));
  const undone = [failed, ...older.slice(0, Math.max(good, 0))].map(({ version }) => version.tag);
  const tag = older[good]?.version.tag;
  return tag === rejected || undone.includes(spec.rollback?.barrier ?? '') ? undefined : tag;
}

/** Some twenty rollbacks. */
const RUNS = { numRuns: 40 };

describe('after a failure', () => {
  it('a rollback goes to the last version that succeeded, and past no pin, closed Gate, rejection or barrier', () => {
    let rollbacks = 0;
    fc.assert(
      fc.property(failingCourse, (input) => {
        live(input, (life, plan) => {
          const [head] = plan.status.history ?? [];
          if (!plan.commits || head?.rolledBackFrom === undefined) return;
          rollbacks++;
          const past = pastOf(life, plan);
          expect(past[0]).toMatchObject({ bakeStatus: 'Failed', version: { tag: head.rolledBackFrom } });
          expect(wayBack(life, past)).toBe(head.version.tag);
          expect(life.opened).toBe(true);
          expect(life.state.rollout.spec!.wantedVersion).toBeUndefined();
        });
      }),
      RUNS,
    );
    expect(rollbacks).toBeGreaterThan(0);
  });

  it('where there is a way back nothing newer goes by itself', () => {
    fc.assert(
      fc.property(failingCourse, (input) => {
        live(input, (life, plan) => {
          const [head] = plan.status.history ?? [];
          if (!plan.commits || !head || head.rolledBackFrom !== undefined || isManual(head)) return;
          expect(wayBack(life, pastOf(life, plan))).toBeUndefined();
        });
      }),
      RUNS,
    );
  });

  it('a failure is rolled back once: not twice, and not never, whatever was lost on the way', () => {
    fc.assert(
      fc.property(failingCourse, (input) => {
        const answered: string[] = [];
        const count = ({ status }: Life, plan: Plan, isStored = true) => {
          const [failed] = status.history ?? [];
          if (!isStored || !plan.commits || plan.status.history?.[0]?.rolledBackFrom === undefined) return;
          answered.push(`${failed?.id} ${failed?.lastRetryTimestamp}`);
        };
        const life = live(input, count);
        const isOwed = () => life.opened && life.asked === undefined && wayBack(life, life.status.history ?? []);
        life.rest(count);
        expect(isOwed() || undefined).toBeUndefined();
        life.lift();
        life.rest(count);
        expect(isOwed() || undefined).toBeUndefined();
        expect(answered).toEqual([...new Set(answered)]);
      }),
      RUNS,
    );
  });

  it('what was rolled back is no candidate, and is not deployed, until somebody deploys it', () => {
    fc.assert(
      fc.property(failingCourse, (input) => {
        const rolledBack = new Set<string>();
        live(input, (_, plan, isStored) => {
          const [head] = plan.status.history ?? [];
          if (plan.commits && head && !isManual(head)) expect(rolledBack).not.toContain(head.version.tag);
          if (!isStored) return;
          if (plan.commits && head) rolledBack.delete(head.version.tag);
          if (plan.commits && head?.rolledBackFrom !== undefined) rolledBack.add(head.rolledBackFrom);
          const candidates = plan.status.releaseCandidates?.map(({ tag }) => tag) ?? [];
          expect(candidates.filter((tag) => rolledBack.has(tag))).toEqual([]);
        });
      }),
      RUNS,
    );
  });

  it('after a rollback that has failed, nothing goes by itself', () => {
    fc.assert(
      fc.property(failingCourse, (input) => {
        live(input, ({ status, state }, plan) => {
          const [last] = status.history ?? [];
          const [head] = plan.status.history ?? [];
          const hasFailed = last?.bakeStatus === 'Failed' && last.rolledBackFrom !== undefined;
          if (!plan.commits || !hasFailed || state.rollout.spec!.onFailure !== 'Rollback') return;
          expect(isManual(head!) || head!.message).toEqual(head!.message?.includes('unblock') ? head!.message : true);
        });
      }),
      RUNS,
    );
  });

  it('the newest release goes forward in the end, where nothing holds it and it was not rolled back', () => {
    fc.assert(
      fc.property(failingCourse, (input) => {
        const life = live(input, () => {});
        life.lift();
        life.rest(() => {});
        const { history: [head] = [], rolledBackReleases = [] } = life.status;
        const newest = `1.${life.releases}.0`;
        if (
          !head ||
          life.releases === 0 ||
          isOnItsWay(head) ||
          isHeld(life, head) ||
          rolledBackReleases.includes(newest)
        )
          return;
        expect(head.version.tag).toBe(newest);
      }),
      RUNS,
    );
  });
});

function isOnItsWay({ bakeStatus }: HistoryEntry): boolean {
  return bakeStatus === 'Deploying' || bakeStatus === 'InProgress';
}

/** By a failure that a person has to deal with, or by a check that is not well and that the failure has not broken. */
function isHeld({ state }: Life, head: HistoryEntry): boolean {
  const { onFailure } = state.rollout.spec!;
  const failed = head.bakeStatus === 'Failed';
  if (failed && (onFailure === 'Hold' || head.rolledBackFrom !== undefined)) return onFailure !== 'Continue';
  const broken = new Set(failed ? head.failedHealthChecks?.map(({ name }) => name) : []);
  const since = Math.max(...[head.timestamp, head.lastRetryTimestamp].map((time) => parseTime(time) ?? 0));
  return state.healthChecks.some(({ metadata, status }) => {
    const isExcused = failed && (broken.has(metadata.name ?? '') || parseTime(status?.lastChangeTime)! >= since);
    return status?.status === 'Unhealthy' && !isExcused;
  });
}
