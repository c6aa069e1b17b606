/** Signed calls to two Gates that share a Secret, over HTTP: taken, replayed, taken to the other Gate, forged, mangled. */
import { randomBytes } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import type { GateWriter } from '../../../api/ports.ts';
import type { Gate } from '../../../api/types.ts';
import { flaggerAnswer } from '../../../core/receiver/flagger.ts';
import { webhookPath } from '../../../core/receiver/webhookPath.ts';
import { createReceiver } from '../../../receiver/index.ts';
import { fakeCluster, fakeMetrics } from '../../fakes/ports.ts';
import { type Call, NaiveReceiver, signatureOf } from '../../reference/receiver.ts';
import { type AnyObject, admit, serve } from '../world/apiServer.ts';
import { expectThat } from '../world/finding.ts';
import { rfc3339 } from './gateModel.ts';

const START = Date.parse('2026-03-27T10:00:00Z');
const TOKEN = 'correct horse battery staple';
const SERVER_USER = 'system:serviceaccount:rollout-hooks:rollout-hooks';

type Step = { gate: 0 | 1; wait: number } & (
  | { do: 'call'; body: string; off: number; nonce?: string | undefined; method: string }
  | { do: 'forge'; body: string; token: string }
  | { do: 'mangle'; headers: (string | undefined)[]; body: string }
  /** A call from before, as it was or under a new nonce. */
  | { do: 'replay'; which: number; anew: boolean }
);

const order = fc.record(
  {
    action: fc.constantFrom('open', 'close', 'open', 'close', 'toggle'),
    reason: fc.constantFrom('CHG-1', '', 'x'.repeat(1024), 'é\u0000'),
    for: fc.constantFrom('1.2.0', 'no/tag', ''),
    extra: fc.constantFrom(1),
  },
  { requiredKeys: ['action'] },
);
const body = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('{"action":"open"}', '{"action":"close"}') },
  { weight: 3, arbitrary: order.map((each) => JSON.stringify(each)) },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('', 'null', '[]', '{"action":"open","__proto__":{}}', '['.repeat(5000)),
    ),
  },
);
const gate = fc.constantFrom(0 as const, 1 as const);
const wait = fc.constantFrom(0, 0, 1, 7, 61, 300, 900);
const is = <T extends string>(name: T) => fc.constant(name);
const header = fc.oneof(
  fc.constantFrom(undefined, '', 'sha256=', `sha256=${'0'.repeat(64)}`, '1774605600', '9'.repeat(400)),
  fc.string({ unit: 'grapheme-ascii' }),
);

export const calls: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: is('call'),
        gate,
        wait,
        body,
        off: fc.constantFrom(0, 0, 0, 0, -299, 299, -301, 301, 1e9),
        nonce: fc.constantFrom(undefined, undefined, undefined, 'n1', 'é'.repeat(2), 'x'.repeat(129)),
        method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'POST', 'PUT'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: is('forge'), gate, wait, body, token: fc.constantFrom('', 'guess', `${TOKEN} `) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: is('mangle'), gate, wait, body, headers: fc.tuple(header, header, header) }),
    },
    { weight: 4, arbitrary: fc.record({ do: is('replay'), gate, wait, which: fc.nat(20), anew: fc.boolean() }) },
  ),
  { minLength: 1, maxLength: 14 },
);

/** What the receiver on the socket looks at: one case at a time. */
const world = { now: START, gates: [] as AnyObject[] };
const objects = (): AnyObject[] => [
  ...world.gates,
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'shop', name: 'token' },
    ...({ data: { token: Buffer.from(TOKEN).toString('base64') } } as object),
  } as AnyObject,
];

const writer: GateWriter = {
  async annotate({ metadata }, annotations) {
    const i = world.gates.findIndex((each) => each.metadata.name === metadata.name);
    const old = world.gates[i]!;
    const merged = Object.entries({ ...old.metadata.annotations, ...annotations }).filter(
      ([, value]) => value !== null,
    );
    const object = {
      ...old,
      metadata: { ...old.metadata, annotations: Object.fromEntries(merged) as Record<string, string> },
    };
    const outcome = await admit({ user: SERVER_USER, object, oldObject: old });
    expectThat(outcome.allowed, 'a signed call was taken, and its write is refused', { outcome, object });
    world.gates[i] = outcome.object!;
    return 'stored';
  },
};

function receiver(): ReturnType<typeof createReceiver> {
  const cluster = {
    ...fakeCluster([]),
    get: (ref: any) => fakeCluster(objects()).get(ref),
    list: (ref: any) => fakeCluster(objects()).list(ref),
  };
  const log = { warn: () => {}, error: (fields: object, message: string) => expectThat(false, message, fields) };
  const { metrics } = fakeMetrics();
  const idTokens = { verify: async () => ({ problem: 'no issuer here', isTemporary: false }) };
  const ports = { cluster: cluster as never, writer, idTokens, oidcIssuers: [], now: () => world.now, log, metrics };
  return createReceiver(ports);
}

/** The paths a receiver remembers, and how many calls each had, are forgotten with it: a new one for each case. */
let current = receiver();
let server: Promise<Server> | undefined;

function listening(): Promise<Server> {
  server ??= new Promise((resolve) => {
    const started: Server = createServer((incoming, outgoing) => current(incoming, outgoing)).listen(
      0,
      '127.0.0.1',
      () => resolve(started),
    );
    started.unref();
  });
  return server;
}

async function send(
  path: string,
  { method, timestamp, nonce, signature, body: content }: Partial<Call>,
): Promise<number> {
  const { port } = (await listening()).address() as AddressInfo;
  const headers = Object.entries({ 'x-timestamp': timestamp, 'x-nonce': nonce, 'x-signature': signature }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && /^[\t\x20-\x7e\x80-\xff]*$/.test(entry[1]),
  );
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: Object.fromEntries(headers) },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(content);
  });
}

export async function checkCalls(steps: Step[]): Promise<void> {
  world.now = START;
  serve({ now: START, objects });
  world.gates = ['a', 'b'].map((name) => ({
    apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
    kind: 'Gate',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: '1' },
    spec: { default: 'closed', receiver: { type: 'hmac', secretRef: { name: 'token' } } },
    status: { webhookPath: webhookPath(Buffer.from(TOKEN), { namespace: 'shop', name }) },
  }));
  current = receiver();
  const naive = [new NaiveReceiver(), new NaiveReceiver()];
  const sent: Call[] = [];
  const minutes = new Map<string, number>();
  for (const step of steps) {
    world.now += step.wait * 1000;
    serve({ now: world.now, objects });
    const before = JSON.stringify(world.gates);
    const path = world.gates[step.gate]!.status.webhookPath;
    const call = callOf(step, path, sent);
    sent.push(call);
    const expected = naive[step.gate]!.judge(call, path, TOKEN, world.now);
    const minute = `${Math.floor(world.now / 60_000)} ${path}`;
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    const status = await send(path, call);
    expectThat(status === expected, `a signed call is answered ${status}, not ${expected}`, {
      step,
      call,
      now: rfc3339(world.now),
    });
    if (status === 200) expectTaken(step.gate, JSON.parse(call.body));
    else expectThat(JSON.stringify(world.gates) === before, 'a refused call changes a Gate', { step });
  }
}

/** The Gate says what was asked, to whoever asks as Flagger would. */
function expectTaken(i: number, { action, for: version }: { action: string; for?: string }): void {
  const found = world.gates[i] as unknown as Gate;
  const ref = { namespace: 'shop', name: found.metadata.name! };
  const { opened } = flaggerAnswer(ref, found, world.now);
  const expected = action === 'open' && version === undefined;
  expectThat(opened === expected, `after '${action}' the Gate is ${opened ? 'open' : 'closed'}`, { gate: found });
}

function callOf(step: Step, path: string, before: readonly Call[]): Call {
  const timestamp = String(Math.floor(world.now / 1000));
  const nonce = randomNonce();
  if (step.do === 'mangle') {
    const [signature = '', at = '', given = ''] = step.headers;
    return { method: 'POST', timestamp: at.trim(), nonce: given.trim(), signature: signature.trim(), body: step.body };
  }
  if (step.do === 'replay') {
    const known = before[step.which % Math.max(1, before.length)];
    if (known) return step.anew ? { ...known, nonce } : known;
    return { method: 'POST', timestamp, nonce, signature: 'sha256=0', body: '' };
  }
  if (step.do === 'forge')
    return {
      method: 'POST',
      timestamp,
      nonce,
      signature: signatureOf(step.token, timestamp, path, step.body),
      body: step.body,
    };
  const at = String(Math.floor(world.now / 1000) + step.off);
  return {
    method: step.method,
    timestamp: at,
    nonce: step.nonce ?? nonce,
    signature: signatureOf(TOKEN, at, path, step.body),
    body: step.body,
  };
}

/** Its text does not matter; no two are alike. */
function randomNonce(): string {
  return randomBytes(12).toString('hex');
}
