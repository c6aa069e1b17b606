/** A Rollout and related objects for tests of the pure core. */
import type { RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import type { Observed } from '../../../core/rollout/evaluation/observed.ts';
import { objectOf } from '../../support/objects.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');

export function observed(
  spec: Partial<RolloutSpec> = {},
  status: RolloutStatus | undefined = undefined,
  rest: Partial<Observed> = {},
): Observed {
  return {
    rollout: objectOf('Rollout', 'team-a/app', {
      metadata: { uid: 'uid-1', generation: 1 },
      spec: { releasesImagePolicy: { name: 'app' }, ...spec },
      ...(status && { status }),
    }),
    imagePolicy: objectOf('ImagePolicy', 'team-a/app', { spec: { policy: { semver: { range: '*' } } } }),
    rolloutGates: [],
    bindings: [],
    healthChecks: [],
    requiredGates: { refs: [] },
    gates: new Map(),
    metadata: {},
    awaitedMetadata: [],
    unconsentingChecks: 0,
    problems: [],
    copyInputs: undefined,
    upstream: { found: [] },
    carried: [],
    configMapProblem: undefined,
    derivedPolicy: undefined,
    writeBackProblem: undefined,
    settings: { noCrossNamespaceRefs: false, onFailure: 'Hold' },
    ...rest,
  };
}
