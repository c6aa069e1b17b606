/** Sends a write through mutate and validate, as the API server does. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { fakeCluster, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import type { AdmissionHandler } from '../../../webhooks/response.ts';
import { gate } from '../../core/gate/gate.ts';
import { admit } from '../../support/admission.ts';

export interface Write {
  object?: KubeObject<any, any> | undefined;
  old?: KubeObject<any, any> | undefined;
  user?: string;
  at: string;
  objects?: KubeObject<any, any>[];
  /** Users that have the verb bypass. */
  mayBypass?: string[];
  /** Users that have the verb select-namespaces in the whole cluster. */
  maySelect?: string[];
  noCrossNamespaceRefs?: boolean;
  /** Whether the webhook's callers are authenticated (default: true). */
  authenticatesCallers?: boolean;
  dryRun?: boolean;
}

export async function write(handlers: { mutate?: AdmissionHandler; validate?: AdmissionHandler }, of: Write) {
  const cluster = fakeCluster(of.objects ?? []);
  const { call, events, facts } = fakeWebhookCall({
    cluster,
    now: Date.parse(of.at),
    access: {
      async may(user, { verb, namespace }) {
        if (verb === 'select-namespaces') return namespace === '' && (of.maySelect ?? []).includes(user.username);
        return verb === 'bypass' && (of.mayBypass ?? []).includes(user.username);
      },
    },
    settings: {
      noCrossNamespaceRefs: of.noCrossNamespaceRefs ?? false,
      authenticatesCallers: of.authenticatesCallers ?? true,
    },
  });
  const { old: oldObject = null, user: username = 'alice', dryRun = false } = of;
  const request = requestOf({ object: of.object ?? null, oldObject, userInfo: { username }, dryRun });
  const { mutate, validate } = handlers;
  const { object, ...answer } = await admit(
    [mutate, validate].filter((each) => each !== undefined),
    request,
    call,
  );
  return { ...answer, object: object!, events, facts, requests: cluster.requests };
}

export const day = (time: string) => `2026-01-05T${time}Z`;

export interface Step {
  at: string;
  user?: string;
  /** Merged into the object; null removes. */
  annotate: Record<string, string | null>;
}

/** The stored object after these writes, in order. */
export async function stored(spec: Gate['spec'], steps: Step[]): Promise<Gate> {
  let now: Gate | undefined;
  for (const { at, user, annotate } of steps) {
    const annotations = Object.fromEntries(
      Object.entries({ ...now?.metadata.annotations, ...annotate }).filter((e): e is [string, string] => e[1] !== null),
    );
    const object = { ...gate(spec, annotations), status: now?.status };
    const written = await write({ mutate: mutateGate, validate: validateGate }, { object, old: now, at, user });
    expect(written.message).toBe('');
    now = written.object as Gate;
  }
  return now!;
}
