/**
 * `node --expose-gc child.ts FOLDER`: decides the hostile input in the folder and prints the cost. Runs as a process of
 * its own, since the peak of resident memory never falls, and an input may hang the process or use up its memory.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { HookCall, Route, WebhookCall } from '../../../api/ports.ts';
import { fakeCluster, fakeHookCall, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { hookRoutes } from '../../../hooks/index.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';
import { webhookRoutes } from '../../../webhooks/index.ts';
import { type AnyObject, NOW } from './input.ts';

/** The measured cost. Times are processor time in milliseconds, for one pass over all paths. */
export interface Measured {
  bytes: number;
  parse: number;
  /** The best of several, with warm code as in a server. */
  decide: number;
  /** The first decision, with cold code and empty caches. */
  first: number;
  /** Growth of the peak of resident memory over reading, parsing and deciding once. */
  peakBytes: number;
  requests: number;
  /** Set if the body is larger than the server's limit. */
  refused?: true;
  /** The first route that did not answer, and its error. */
  failed?: string;
}

const ROUNDS = 15;
/** A sample is repeated until it is long enough for the clock. */
const LONG_ENOUGH_MS = 4;
const SPENT_MS = 600;

interface Sent {
  paths: string[];
  body: string;
  stored: string[];
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function routesOver(stored: AnyObject[]) {
  const cluster = fakeCluster(stored);
  const around = { now: NOW, cluster, access: { may: async () => true } };
  const hookCall = (): HookCall => fakeHookCall(around).call;
  const webhookCall = (): WebhookCall => fakeWebhookCall(around).call;
  const routes = [...hookRoutes(hookCall), ...webhookRoutes(webhookCall)];
  return { cluster, routes: new Map(routes.map((route) => [route.path, route])) };
}

/** Decides once. Parses everything again, so that caches by identity don't help. */
async function decideOnce({ paths, body, stored }: Sent) {
  const { cluster, routes } = routesOver(stored.map((each) => JSON.parse(each)));
  let took = 0;
  let failed: string | undefined;
  for (const path of paths) {
    const parsed = JSON.parse(body);
    const before = processorMs();
    failed ??= await (routes.get(path) as Route).answer(parsed).then(
      () => undefined,
      (error: Error & { status?: number }) =>
        error.status ? undefined : `${path}: ${error.message} (${error.stack?.split('\n')[1]?.trim()})`,
    );
    took += processorMs() - before;
  }
  return { took, cluster, failed };
}

/**
 * The smallest of several samples. Their end is in processor time: on a busy machine, real time would end before the
 * code is warm.
 */
async function best(sample: () => Promise<number>): Promise<number> {
  const end = processorMs() + SPENT_MS;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && processorMs() < end; round++) {
    let total = 0;
    let count = 0;
    while (total < LONG_ENOUGH_MS && count < 1000) {
      total += await sample();
      count++;
    }
    least = Math.min(least, total / count);
  }
  return least;
}

async function measure(read: () => Sent): Promise<Measured> {
  // A peak without uncollected garbage.
  setFlagsFromString('--heap-growing-percent=25');
  globalThis.gc?.();
  const before = process.resourceUsage().maxRSS;
  const sent = read();
  const nothing = { parse: 0, decide: 0, first: 0, peakBytes: 0, requests: 0 };
  const size = Buffer.byteLength(sent.body);
  if (size > SERVER_LIMITS.bodyBytes) return { ...nothing, bytes: size, refused: true };
  const { took: first, cluster, failed } = await decideOnce(sent);
  const peakBytes = (process.resourceUsage().maxRSS - before) * 1024;
  setFlagsFromString('--heap-growing-percent=0');
  const answers = [...cluster.read].map((object) => JSON.stringify(object));
  const bytes = [sent.body, ...answers].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  const parse = await best(async () => {
    const start = processorMs();
    for (const _ of sent.paths) JSON.parse(sent.body);
    for (const answer of answers) JSON.parse(answer);
    return processorMs() - start;
  });
  const decide = first > SPENT_MS ? first : await best(async () => (await decideOnce(sent)).took);
  return { bytes, parse, decide, first, peakBytes, requests: cluster.requests.length, ...(failed && { failed }) };
}

const [folder = ''] = process.argv.slice(2);
const readText = (name: string) => readFileSync(join(folder, name), 'utf8');
const read = () => ({ ...JSON.parse(readText('rest.json')), body: readText('body.json') });
process.stdout.write(JSON.stringify(await measure(read)));
