/**
 * The explanation of a failed deployment: reports of Flux and HealthChecks, the last good version, and effective
 * commands.
 */
import { describe, expect, it } from 'vitest';
import type { HistoryEntry, Rollout } from '../../../api/types.ts';
import { commandViewsOf } from '../../../client/actions/lines.ts';
import { rolloutActions } from '../../../client/actions/rolloutActions.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { objectOf } from '../../support/objects.ts';

const entry = (id: number, tag: string, bakeStatus: string): HistoryEntry => ({
  id,
  version: { tag },
  timestamp: '2026-03-01T12:00:00Z',
  bakeStatus: bakeStatus as 'Failed',
});

interface Parts {
  history?: HistoryEntry[];
  spec?: object;
  pendingVersion?: string;
  blocked?: boolean;
}

const HISTORY = [entry(4, '1.2.0', 'Failed'), entry(3, '1.1.1', 'Cancelled'), entry(2, '1.1.0', 'Succeeded')];
const MESSAGE = 'Kustomization shop/web: health check failed after 30s: Deployment/shop/web';
const failedCheck = { namespace: 'shop', name: 'web', message: MESSAGE };

function failed({ history = HISTORY, spec = {}, pendingVersion, blocked = false }: Parts = {}): Rollout {
  const [head, ...before] = history;
  return objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app', uid: 'u', generation: 1 },
    spec: { releasesImagePolicy: { name: 'app' }, ...spec },
    status: {
      history: [{ ...head!, failedHealthChecks: [failedCheck] }, ...before],
      ...(pendingVersion && { pendingVersion }),
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'BakeTimeFailed',
          message: 'Bake of 1.2.0 failed',
          lastTransitionTime: '',
        },
      ],
      ...(blocked && {
        blockers: [{ type: 'Failure', effect: 'Blocks', reason: 'PreviousDeploymentFailed', version: pendingVersion! }],
      }),
    },
  } as never);
}

const explained = (rollout: Rollout) => explainRollout(rollout, NO_RELATED, 0);
const commandsFor = (rollout: Rollout) => commandViewsOf(rolloutActions(rollout, explained(rollout), NO_RELATED, 0), 0);
const RETRY = 'kubectl rollouts retry app -n shop --reason "<why>"';
const ROLLBACK = 'kubectl rollouts rollback app 1.1.0 -n shop --reason "<why>"';
const UNBLOCK = 'kubectl rollouts unblock app -n shop --reason "<why>"';

it('of a pinned version comes before the pin, which holds only other versions', () => {
  const rollout = failed({ spec: { wantedVersion: '1.2.0' } });
  const pinned = { type: 'Pinned', status: 'True', reason: 'WantedVersion', message: 'pinned', lastTransitionTime: '' };
  rollout.status!.conditions!.push(pinned as never);
  expect(
    explained(rollout)
      .causes.map(({ code }) => code)
      .slice(0, 2),
  ).toEqual(['BakeTimeFailed', 'WantedVersion']);
});

it('has the reports of the failed HealthChecks, and the last version that Succeeded', () => {
  const { causes, failure } = explained(failed());
  expect(causes.map(({ text }) => text)).toEqual([
    'Bake of 1.2.0 failed',
    `HealthCheck shop/web was not Healthy: ${MESSAGE}`,
    '1.1.0 is the last version that succeeded (deployment 2)',
  ]);
  expect(failure).toEqual({ lastGood: '1.1.0', lastGoodId: 2, rollbackTo: '1.1.0', unblocks: false });
});

it('has no version as the last that succeeded whose last deployment failed', () => {
  const history = [...HISTORY.slice(0, 1), entry(3, '1.1.0', 'Failed'), entry(2, '1.1.0', 'Succeeded')];
  const older = [...history, entry(1, '1.0.0', 'Succeeded')];
  expect(explained(failed({ history: older })).failure).toMatchObject({ lastGood: '1.0.0', rollbackTo: '1.0.0' });
});

describe('proposes', () => {
  it.each<[string, Parts, string[]]>([
    ['to try again and to go back', {}, [ROLLBACK, RETRY]],
    [
      'to let the next one through, where a failure holds it',
      { spec: { onFailure: 'Hold' } },
      [ROLLBACK, RETRY, UNBLOCK],
    ],
    ['the same for one that waits', { pendingVersion: '1.3.0', blocked: true }, [ROLLBACK, RETRY, UNBLOCK]],
    ['no way back where nothing has succeeded', { history: [entry(1, '1.2.0', 'Failed')] }, [RETRY]],
    [
      'no way back to what is newer',
      { history: [entry(2, '1.2.0', 'Failed'), entry(1, '1.3.0', 'Succeeded')] },
      [RETRY],
    ],
  ])('%s', (_, parts, commands) => {
    const own = commandsFor(failed(parts)).filter(({ command }) => !command.includes(' deploy '));
    expect(own.map(({ command }) => command)).toEqual(commands);
  });
});
