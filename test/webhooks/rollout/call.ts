import type { AdmissionRequest } from '../../../api/admission.ts';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { NOW, type object, rollout } from '../../hooks/rollout/call.ts';
import { send } from '../../support/admission.ts';

export const P = 'rollout.kuberik.com/';

export interface Write {
  object?: unknown;
  old?: unknown;
  user?: string;
  uid?: string;
  dryRun?: boolean;
}

export function write({ object, old, user = 'alice', uid = 'req-1', dryRun = false }: Write): AdmissionRequest {
  const objects = { object: (object ?? null) as never, oldObject: (old ?? null) as never };
  return requestOf({ ...objects, uid, userInfo: { username: user }, dryRun });
}

export function call(objects: ReturnType<typeof object>[] = [], may = false) {
  const { call: webhookCall, events } = fakeWebhookCall({
    now: NOW,
    objects,
    access: { may: async () => may },
    settings: { metacontrollerUser: 'metacontroller' },
  });
  return { webhookCall, events };
}

export function annotated(
  annotations: Record<string, string>,
  spec: Partial<RolloutSpec> = {},
  status?: RolloutStatus,
): Rollout {
  const base = rollout(spec, status);
  return { ...base, metadata: { ...base.metadata, annotations } };
}

export async function stored({ object, old: oldObject, ...of }: Write): Promise<Record<string, string> | undefined> {
  const answer = await send(mutateRollout, { uid: 'req-1', ...of, object, oldObject } as never, { now: NOW });
  return answer.object!.metadata.annotations;
}
