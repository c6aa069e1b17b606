import { createHash, createHmac } from 'node:crypto';
import type { Express } from 'express';
import request from 'supertest';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ReceiverPorts } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { fakeCluster, fakeMetrics } from '../../dev/fakes/ports.ts';
import { createReceiver } from '../../receiver/index.ts';
import { mutateGate, validateGate } from '../../webhooks/gate/gateAdmission.ts';
import { gate } from '../core/gate/gate.ts';
import { kubeObject } from '../support/objects.ts';
import { write } from '../webhooks/gate/call.ts';

export const TOKEN = 's3cret';
export const T0 = Date.parse('2026-01-05T10:00:00Z');
export const PATH = `/hook/${createHash('sha256').update(`${TOKEN}freezeplatform`).digest('hex')}`;
export const OPEN = 'open.gate.fluxcd.io/requestedAt';

const NO_TOKENS: ReceiverPorts['idTokens'] = { verify: () => Promise.reject(new Error('no token was expected')) };

/** An API server for one Gate: annotations go through admission, and a stale resourceVersion is a conflict. */
export function receiver(
  stored: Partial<Gate> = {},
  clock = { now: T0 },
  { idTokens = NO_TOKENS, oidcIssuers = [] }: Partial<Pick<ReceiverPorts, 'idTokens' | 'oidcIssuers'>> = {},
) {
  const spec: Gate['spec'] = {
    default: 'closed',
    window: '1h',
    receiver: { type: 'hmac', secretRef: { name: 'hook' } },
  };
  const state = {
    gate: { ...gate(spec), status: { webhookPath: PATH }, ...stored } as Gate | undefined,
    token: TOKEN as string | Uint8Array | undefined,
    /** The stored resourceVersion. */
    version: 1,
    reads: 0,
    lists: 0,
    refusals: [] as string[],
    /** Whether the server lacks the right to annotate the Gate. */
    isForbidden: false,
  };
  const live = () =>
    state.gate &&
    structuredClone({ ...state.gate, metadata: { ...state.gate.metadata, resourceVersion: `${state.version}` } });
  const secret = (): KubeObject<any, any> | undefined =>
    state.token === undefined
      ? undefined
      : kubeObject('v1', 'Secret', 'platform/hook', {
          ...{ data: { token: Buffer.from(state.token).toString('base64') } },
        });
  const { counts, metrics } = fakeMetrics();
  const ports: ReceiverPorts = {
    now: () => clock.now,
    log: {
      warn: (_fields, message) => void state.refusals.push(message),
      error: (fields) => void state.refusals.push(JSON.stringify(fields)),
    },
    cluster: fakeCluster(() => [live(), secret()].filter((object) => object !== undefined), {
      onRequest: ({ verb }) => {
        if (verb === 'pages') state.lists++;
        else state.reads++;
      },
    }),
    metrics,
    idTokens,
    oidcIssuers,
    writer: {
      async annotate(read, annotations) {
        if (state.isForbidden) return 'forbidden';
        if (read.metadata.resourceVersion !== `${state.version}`) return 'conflict';
        const merged = { ...read.metadata.annotations, ...annotations };
        const kept = Object.fromEntries(Object.entries(merged).filter((e): e is [string, string] => e[1] !== null));
        const object: KubeObject<any, any> = {
          ...state.gate!,
          metadata: { ...state.gate!.metadata, annotations: kept },
        };
        const answer = await write([mutateGate, validateGate], {
          object,
          old: state.gate,
          at: new Date(clock.now).toISOString(),
          user: 'hooks',
        });
        if (!answer.allowed) throw new Error(answer.message);
        state.gate = answer.object as Gate;
        state.version++;
        return 'stored';
      },
    },
  };
  /** Each call creates a replica without state. */
  const replica = () => createReceiver(ports);
  return { state, clock, counts, ports, replica, app: replica(), opened: () => evaluateGate(state.gate!, clock.now) };
}

export interface Call {
  body?: unknown;
  timestamp?: string;
  nonce?: string | undefined;
  token?: string | Uint8Array;
  signature?: string;
  /** The one that is signed. */
  path?: string;
}

export function headers({
  body = { action: 'open' },
  timestamp = `${T0 / 1000}`,
  nonce = 'n-1',
  token = TOKEN,
  signature,
  path = PATH,
}: Call = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const hex = createHmac('sha256', token).update(`${timestamp}.${path}.${text}`).digest('hex');
  return { text, set: { 'X-Signature': signature ?? `sha256=${hex}`, 'X-Timestamp': timestamp, 'X-Nonce': nonce } };
}

export function send(app: Express, call: Call = {}, path = PATH) {
  const { text, set } = headers({ path, ...call });
  return request(app).post(path).set('Content-Type', 'application/json').set(set).send(text);
}
