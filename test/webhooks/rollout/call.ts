import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { NOW, rollout } from '../../hooks/rollout/call.ts';
import { type Context, send } from '../../support/admission.ts';

export const P = 'rollout.kuberik.com/';

export interface Write<T = AnyObject> extends Omit<Parameters<typeof send<AnyObject>>[1], 'object' | 'oldObject'> {
  object?: T | undefined;
  old?: T | undefined;
}

/** The answer to a write of a Rollout, or of an object about one. */
export const admitted = <T extends AnyObject>(
  handlers: Parameters<typeof send>[0],
  { object, old: oldObject, ...of }: Write<T>,
  { settings, ...context }: Context = {},
) =>
  send<T>(
    handlers,
    { uid: 'req-1', ...of, object, oldObject },
    { now: NOW, settings: { metacontrollerUser: 'metacontroller', ...settings }, ...context },
  );

export function annotated(
  annotations: Record<string, string>,
  spec: Partial<RolloutSpec> = {},
  status?: RolloutStatus,
): Rollout {
  const base = rollout(spec, status);
  return { ...base, metadata: { ...base.metadata, annotations } };
}

export const stored = async (write: Write) => (await admitted(mutateRollout, write)).object!.metadata.annotations;
