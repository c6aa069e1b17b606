/**
 * A bypass on the Rollout `app`, which requires the Gate `own`; an object bound to it requires the Gate `bound`. Both
 * are closed.
 */

import { BYPASS_REASON, BYPASSED_BY, BYPASSED_GATES, FORCE_DEPLOY } from '../../../api/annotations.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { mutateRollout, validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { object, rollout } from '../../hooks/rollout/call.ts';
import { admitted } from './call.ts';

export const T = '2026-03-01T12:00:00Z';
export const entry = (id: number, tag: string, appliedTime: string | undefined = T) => ({
  id,
  version: { tag },
  timestamp: '2026-03-01T11:00:00Z',
  ...(appliedTime && { appliedTime }),
});
const NEXT = [{ tag: '1.5.0' }];
export const AT_7: RolloutStatus = { history: [entry(7, '1.4.0')], availableReleases: NEXT, releaseCandidates: NEXT };
export const REASON = { [BYPASS_REASON]: 'INC-7' };
export const HOTFIX = { [FORCE_DEPLOY]: '1.5.0', ...REASON };

export const own: Partial<RolloutSpec> = { gates: [{ name: 'own' }] };
export const gateOf = (name: string, spec: object = { default: 'closed' }) =>
  object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', name, spec);
/** The FluxBinding of an object that is bound to the Rollout and that requires the Gate `bound`. */
export const binding = (kind: string, spec: object = {}): KubeObject<any, any> => {
  const target = { apiVersion: 'x/v1', kind, name: 'app', uid: 'u' };
  const made = object('kuberik.com/v1alpha1', 'FluxBinding', `${kind.toLowerCase()}-app`, {
    target,
    fields: [{ rollout: 'app' }],
    gates: [{ namespace: 'team-a', gate: 'bound' }],
    ...spec,
  });
  return { ...made, metadata: { ...made.metadata, labels: { [boundLabel('app')]: '' } } };
};
export const GATES = [gateOf('own'), gateOf('bound'), binding('OCIRepository')];

interface Case {
  next: Rollout;
  /** null: the Rollout is created. */
  before?: Rollout | null;
  user?: string;
  /** `user gate` pairs. */
  may?: string[];
  objects?: KubeObject<any, any>[];
}

/** The webhooks' answers, and the stored object. */
export async function ask({ next, before, user = 'sre', may = ['sre own', 'sre bound'], objects = GATES }: Case) {
  const old = (before === undefined ? rollout(own, next.status) : before) ?? undefined;
  const { message, events, ...answer } = await admitted(
    [mutateRollout, validateRollout],
    { object: next, old, user },
    { objects, may: may.map((each) => each.replace(' ', ' bypass team-a/')) },
  );
  const annotations = answer.object?.metadata.annotations ?? {};
  return {
    ...answer,
    denial: message || undefined,
    grant: annotations[BYPASSED_GATES],
    by: annotations[BYPASSED_BY],
    events: events.map(({ message }) => message),
    /** Events of one key are one Event. */
    eventKeys: new Set(events.map(({ key }) => key)),
  };
}
