import { describe, expect, it } from 'vitest';
import type { HistoryEntry, RolloutGate, VersionInfo } from '../../../../api/types.ts';
import {
  blockingText,
  countedRolloutGate,
  evaluateRolloutGates,
  rolloutGatesOf,
  scheduledOpening,
} from '../../../../core/rollout/evaluation/rolloutGates.ts';
import { shownBypass } from '../../../../core/rollout/gateSummaries.ts';
import { planRollout } from '../../../../core/rollout/plan.ts';
import { objectOf } from '../../../support/objects.ts';
import { NOW, observed } from '../observedFixture.ts';

const LABELS = {
  'gate.kuberik.com/schedule-kind': 'RolloutSchedule',
  'gate.kuberik.com/schedule-name': 'working-hours',
};
const CANDIDATES = [{ tag: '1.2.0' }, { tag: '1.1.0' }];

function gate(spec: Partial<NonNullable<RolloutGate['spec']>>, name = 'g'): RolloutGate {
  const metadata = { name, namespace: 'team-a' };
  return objectOf('RolloutGate', { metadata, spec: { rolloutRef: { name: 'app' }, passing: true, ...spec } });
}

describe('the gates that a version waits for', () => {
  const ofSchedule = (until: string): RolloutGate => {
    const made = gate({ passing: false }, 'schedule-gate-1');
    return {
      ...made,
      metadata: { ...made.metadata, labels: LABELS, annotations: { 'gate.kuberik.com/until': until } },
    };
  };
  it('are named, with the schedule that made one and until when it holds', () => {
    expect(blockingText(ofSchedule('2026-11-23T08:00:00Z'))).toBe(
      "RolloutGate 'schedule-gate-1' of RolloutSchedule 'working-hours' (not passing until 2026-11-23T08:00:00Z)",
    );
  });
  it('leave out a message that isn’t a time', () => {
    expect(blockingText(ofSchedule('x'.repeat(5000)))).toBe(
      "RolloutGate 'schedule-gate-1' of RolloutSchedule 'working-hours' (not passing)",
    );
  });
});

describe('a RolloutGate that passes until the next change of its schedule', () => {
  const at = (time: string) => Date.parse(`2026-11-23T${time}Z`);
  const until17 = { 'gate.kuberik.com/until': '2026-11-23T17:00:00Z' };
  const made = (passing: boolean, labels: object, annotations: object = until17) => {
    const { metadata, ...rest } = gate({ passing }, 'schedule-gate-1');
    return { ...rest, metadata: { ...metadata, labels, annotations } } as RolloutGate;
  };

  it.each<[title: string, gate: RolloutGate, time: string, passing: boolean]>([
    ['passes before it', made(true, LABELS), '16:59:59', true],
    ['does not pass from then on, until the schedule is evaluated', made(true, LABELS), '17:00:00', false],
    ['does not pass if it is closed until then', made(false, LABELS), '17:00:00', false],
    ['passes if the schedule never changes', made(true, LABELS, {}), '17:00:00', true],
    ['passes if no schedule has made it', made(true, {}), '17:00:00', true],
  ])('%s', (_, each, time, passing) => {
    expect(countedRolloutGate(each, at(time)).spec?.passing).toBe(passing);
  });

  it.each([true, false])('is named with the cause (passing: %s)', (passing) => {
    const counted = countedRolloutGate(made(passing, LABELS), at('17:05:00'));
    expect(blockingText(counted)).toBe(
      "RolloutGate 'schedule-gate-1' of RolloutSchedule 'working-hours' (its schedule has not been evaluated since 2026-11-23T17:00:00Z)",
    );
    expect(scheduledOpening(counted)).toBeUndefined();
  });

  it('opens at no time that somebody else has written', () => {
    expect(scheduledOpening(made(false, {}))).toBeUndefined();
    expect(scheduledOpening(made(false, LABELS))).toBe(at('17:00:00'));
  });
});

describe('evaluateRolloutGates', () => {
  it('counts as passing if passing has no value', () => {
    const { passing, ...spec } = gate({}).spec!;
    expect(evaluateRolloutGates([{ ...gate({}), spec: spec as never }], CANDIDATES, undefined, [], []).passing).toBe(
      true,
    );
  });
});

it('the gates of a Rollout are its own', () => {
  const all = [gate({}, 'a'), gate({ rolloutRef: { name: 'other' } }, 'o')];
  expect(rolloutGatesOf(observed().rollout, all, NOW).map(({ metadata }) => metadata.name)).toEqual(['a']);
});

describe('shownBypass', () => {
  it('continues for the version that was let through, until there is a new one', () => {
    const head = (origin: HistoryEntry['origin']) => ({
      version: { tag: '1.1.0' },
      timestamp: '2026-03-01T12:00:00Z',
      origin,
    });
    const shown = (origin: HistoryEntry['origin'], candidates: VersionInfo[]) => {
      const rolloutGatesResult = evaluateRolloutGates([], candidates, undefined, [], []);
      return shownBypass([head(origin)], { candidates, approvals: [], rolloutGatesResult });
    };
    expect(shown(['Automatic', 'GateBypass'], [])).toBe('1.1.0');
    expect(shown(['Automatic', 'GateBypass'], CANDIDATES)).toBeUndefined();
    expect(shown(['Manual'], [])).toBeUndefined();
  });

  it('is not the bypass of another version, which no RolloutGate blocks', () => {
    const head = { id: 1, version: { tag: '1.1.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' };
    const given = observed(
      {},
      { history: [{ ...head, origin: ['Automatic', 'GateBypass'] }], availableReleases: [{ tag: '1.0.0' }] },
    );
    given.rollout.metadata.annotations = {
      'rollout.kuberik.com/force-deploy': '1.0.0',
      'rollout.kuberik.com/bypass-gates': '1.0.0',
    };
    expect(planRollout(given, NOW).status.history?.[0]?.origin).toEqual(['Manual', 'ForceDeploy']);
  });
});
