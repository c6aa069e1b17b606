/**
 * The routes of the hook server in this process, over the objects that a case serves, and calls of them, which fail if
 * a route crashes or takes too long.
 */
import type { AdmissionRequest, AdmissionReview } from '../../../api/admission.ts';
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { DecisionLog, Route } from '../../../api/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall } from '../../fakes/ports.ts';
import { requestOf, reviewing } from '../../fakes/requests.ts';

export type AnyObject = KubeObject<any, any>;

interface Served {
  now: EpochMs;
  objects: readonly AnyObject[];
}

let served: Served = { now: 0, objects: [] };
const ports = () => ({
  now: served.now,
  cluster: fakeCluster(served.objects),
  settings: {
    bypassServiceAccounts: ['system:serviceaccount:ops:emergency'],
    copyImage: 'registry.example/rollout-hooks:1',
  },
  access: { may: async ({ username }: { username: string }) => username === 'admin' },
});

/** Writes every line, as at level debug: no body may break the log. */
const LOG: DecisionLog = {
  decided: (line) => void JSON.stringify(line),
  considered: (line) => void JSON.stringify(line()),
};

export const ROUTES: ReadonlyMap<string, Route> = new Map(
  [
    ...hookRoutes(() => fakeHookCall(ports()).call, LOG),
    ...webhookRoutes(() => fakeWebhookCall(ports()).call, LOG),
  ].map((route) => [route.path, route]),
);

export function serve(next: Served): void {
  served = next;
}

export const reviewOf = (username: string, write: Partial<AdmissionRequest>): AdmissionReview =>
  reviewing(requestOf({ userInfo: { username, groups: ['system:authenticated'] }, ...write }));

/** A property that does not hold: what the fuzzer looks for. */
class Finding extends Error {}

export function expectThat(holds: boolean, what: string, details: object = {}): void {
  if (!holds)
    throw new Finding(
      `${what}\n${JSON.stringify(details, (key, value) => (key === 'managedFields' ? undefined : value))}`,
    );
}

/** The time limit of an answer: this many times the parsing of the body, and a constant. */
const PARSES = 50;
const CONSTANT_MS = 100;
const TRIES = 3;

type Answer<T = any> = { status: 200; body: T } | { status: number; error: string };

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** @throws Finding for an unexpected exception, and for an answer that took too long three times. */
export async function callRoute<T = any>(route: Route, body: unknown): Promise<Answer<T>> {
  const text = JSON.stringify(body);
  for (let attempt = 1; ; attempt++) {
    const start = processorMs();
    const parsed = JSON.parse(text);
    const between = processorMs();
    const answer = await answerOf<T>(route, parsed);
    const took = processorMs() - between;
    if (took <= PARSES * (between - start) + CONSTANT_MS) return answer;
    const ratio = `${took.toFixed(0)} ms for ${text.length} bytes that parse in ${(between - start).toFixed(2)} ms`;
    expectThat(attempt < TRIES, `${route.path} takes too long: ${ratio}`);
  }
}

async function answerOf<T>(route: Route, body: unknown): Promise<Answer<T>> {
  try {
    // As Express would send it.
    return { status: 200, body: JSON.parse(JSON.stringify(await route.answer(body))) };
  } catch (error) {
    const { status, message, stack } = error as Error & { status?: number };
    if (status !== undefined && status >= 400 && status < 500) return { status, error: message };
    throw new Finding(`${route.path} crashes: ${stack ?? message}`);
  }
}
