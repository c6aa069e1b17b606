import { expect } from 'vitest';
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import type { AdmissionHandler } from '../../../webhooks/response.ts';
import { gate } from '../../core/gate/gate.ts';
import { type Context, send } from '../../support/admission.ts';

export interface Write extends Omit<Context, 'now'> {
  object?: AnyObject | undefined;
  old?: AnyObject | undefined;
  user?: string | undefined;
  at: string;
  dryRun?: boolean;
}

export const write = (
  handlers: AdmissionHandler | AdmissionHandler[],
  { old, at, object, user, dryRun, ...of }: Write,
) => send(handlers, { object, oldObject: old, user, dryRun }, { ...of, now: Date.parse(at) });

export const day = (time: string) => `2026-01-05T${time}Z`;

export interface Step {
  at: string;
  user?: string;
  /** Merged into the object; null removes. */
  annotate: Record<string, string | null>;
  /** Merged into the spec; null removes. */
  spec?: Record<string, unknown>;
}

/** The stored object after these writes, in order. */
export async function stored(spec: Gate['spec'], steps: Step[]): Promise<Gate> {
  let now: Gate | undefined;
  let ofNow: object = spec;
  const merged = (...parts: object[]) =>
    Object.fromEntries(Object.entries(Object.assign({}, ...parts)).filter(([, value]) => value !== null));
  for (const { at, user, annotate, spec: change = {} } of steps) {
    ofNow = merged(ofNow, change);
    const annotations = merged(now?.metadata.annotations ?? {}, annotate) as Record<string, string>;
    const object = { ...gate(ofNow as Gate['spec'], annotations), status: now?.status };
    const written = await write([mutateGate, validateGate], { object, old: now, at, user });
    expect(written.message).toBe('');
    now = written.object as Gate;
  }
  return now!;
}
