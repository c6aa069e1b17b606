/** `--wait` and `status --until`: wait until a request has taken effect. The functions return the exit code. */
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { Rollout, RolloutGate } from '../../api/types.ts';
import { objectTitle, type Progress } from '../../client/actions/writes/plannedWrite.ts';
import { unknownText } from '../../client/actions/writes/rolloutWrites.ts';
import type { Application } from '../../client/explain/application.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { type GoalProgress, progressSince, type SinceRequest } from '../../client/explain/rollout/reached.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { Live } from '../../connection/read/live.ts';
import { readNamed } from '../../connection/read/namedObjects.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { type Style, styleOf } from '../terminal/style.ts';
import { changeLines } from '../terminal/tree.ts';
import type { Made } from './make.ts';

type Given = Pick<Invocation, 'options'>;

const POLL_MS = 1000;
const STOPPED = 'Stopped waiting. The request is still in effect.';

export function isWaitedFor({ options }: Given, made: Made | undefined): made is Made {
  return Boolean(options.wait) && made !== undefined && !made.isDryRun;
}

/** Calls `poll` every second until it returns the exit code. `isLate`: this call is the last one. */
export async function pollUntil(
  context: Context,
  { options }: Given,
  poll: (isLate: boolean) => Promise<number | undefined>,
): Promise<number> {
  const { signal } = context;
  const timeoutMs = timeoutOf(options.timeout);
  const endsAt = timeoutMs > 0 ? context.now() + timeoutMs : Number.POSITIVE_INFINITY;
  for (;;) {
    const isLate = context.now() >= endsAt;
    const code = await poll(isLate);
    if (code !== undefined || isLate) return code ?? EXIT.timeout;
    await pause(Math.min(POLL_MS, Math.max(endsAt - context.now(), 0)), undefined, { signal }).catch(() => {});
    if (!signal.aborted) continue;
    context.terminal.note(STOPPED);
    return EXIT.interrupted;
  }
}

/** Waits until an object's own status reports the end of a request. */
export async function awaitObject<T extends AnyObject>(
  context: Context,
  invocation: Given,
  made: Made,
  progress: (object: T) => Progress,
): Promise<number> {
  const { client } = await context.cluster();
  const kind = made.object.kind as KindName;
  const { namespace, name } = identityOf(made.object);
  const title = objectTitle(kind, { namespace, name });
  const say = (text: string) => styleOf(context).text(`${title}: ${text}`);
  let last = '';
  return pollUntil(context, invocation, async (isLate) => {
    const object = await client.get<T>({ ...resourceOf(KINDS[kind]), ...(namespace && { namespace }), name });
    if (!object) throw new Problem(`${title} has been deleted.`);
    const { is, text } = progress(object);
    if (is !== 'under way' || isLate) {
      context.terminal.print(say(is === 'under way' ? `timed out; ${text}` : text));
      return is === 'reached' ? EXIT.ok : is === 'failed' ? EXIT.failed : EXIT.timeout;
    }
    if (text !== last) context.terminal.note(say(text));
    last = text;
    return undefined;
  });
}

/** Waits until the requested version has baked. `before`: the Rollout from which the request was planned. */
export async function awaitRollout(
  context: Context,
  invocation: Given,
  made: Made,
  before: Rollout | undefined,
): Promise<number> {
  const { brings } = made.request;
  if (!before || !brings) {
    context.terminal.note("Not waiting: this request doesn't start a deployment by itself.");
    return EXIT.ok;
  }
  const { version } = brings;
  return awaitProgress(context, invocation, identityOf(before), {
    what: `${version ?? 'the next version'} baked`,
    progress: (app) => progressSince('baked', app, historyBefore(before, version), version),
  });
}

/** The history before a request, without its newest deployment if that has the requested version already. */
function historyBefore({ status }: Rollout, version: string | undefined): SinceRequest {
  const [head] = status?.history ?? [];
  const isDeployed = head !== undefined && head.version.tag === version && head.bakeStatus !== 'Failed';
  return { id: (head?.id ?? 0) - (isDeployed ? 1 : 0), retriedAt: head?.lastRetryTimestamp };
}

/** Waits until the Rollout's status shows a change of its RolloutGate. `version`: the rejected one, if any. */
export async function awaitRolloutGate(
  context: Context,
  invocation: Given,
  made: Made,
  version?: string,
): Promise<number> {
  const { client } = await context.cluster();
  const { spec, metadata } = made.object as RolloutGate;
  const ref = { namespace: metadata.namespace ?? '', name: spec?.rolloutRef.name ?? '' };
  if (!(await readNamed(client, 'Rollout', ref))) {
    context.terminal.note(`There is no Rollout ${refKey(ref)}: the RolloutGate blocks nothing.`);
    return EXIT.ok;
  }
  const gate = metadata.name ?? '';
  const passing = spec?.passing ?? true;
  const what = version === undefined ? `RolloutGate ${gate} ${passing ? 'open' : 'closed'}` : `${version} rejected`;
  return awaitProgress(context, invocation, ref, {
    what,
    progress: (_, rollout) =>
      version === undefined ? passingProgress(rollout, gate, passing) : rejectionProgress(rollout, version),
  });
}

function passingProgress({ status }: Rollout, gate: string, passing: boolean): GoalProgress {
  const entry = status?.gates?.find(({ name, kind }) => name === gate && kind === undefined);
  return entry !== undefined && (entry.passing ?? true) === passing ? 'reached' : 'under way';
}

/** The progress of a rejection. A version that the Rollout has not discovered will be rejected when it is. */
function rejectionProgress({ status }: Rollout, version: string): GoalProgress {
  const { availableReleases = [], rejectedReleases = [] } = status ?? {};
  const isRejected = rejectedReleases.some(({ tag }) => tag === version);
  return isRejected || !availableReleases.some(({ tag }) => tag === version) ? 'reached' : 'under way';
}

async function awaitProgress(
  context: Context,
  { options }: Given,
  { namespace, name }: { namespace: string; name: string },
  wanted: Omit<Wanted, 'timeoutMs'>,
): Promise<number> {
  const { client } = await context.cluster();
  const code = await waitFor(context, { client, namespace }, name, {
    ...wanted,
    timeoutMs: timeoutOf(options.timeout),
  });
  if (code === EXIT.interrupted) context.terminal.note(STOPPED);
  return code;
}

export const WAIT_CODES: NonNullable<CommandDefinition['exitCodes']> = [
  [EXIT.failed, 'with --wait: the deployment has failed'],
  [EXIT.timeout, 'with --wait: timed out; the output has the cause'],
];

interface Wanted {
  /** The goal in words: `1.2.0 baked`. */
  what: string;
  /** The release that the user typed, which may not exist. */
  release?: string | undefined;
  progress(app: Application, rollout: Rollout): GoalProgress;
  /** The timeout; 0: none. */
  timeoutMs: number;
}

/** Waits for the goal, printing changes of the Rollout. */
export async function waitFor(
  context: Context,
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  name: string,
  { what, release, progress, timeoutMs }: Wanted,
): Promise<number> {
  const { terminal, signal } = context;
  const ended = new AbortController();
  const timer = timeoutMs > 0 ? setTimeout(() => ended.abort(), timeoutMs) : undefined;
  const live = new Live({ client, namespace, names: [name], signal: AbortSignal.any([signal, ended.signal]) });
  let last: Application | undefined;
  let unknown: string | undefined;
  try {
    for await (const _ of live.updates(60_000)) {
      const [rollout] = live.rollouts;
      if (!rollout) throw new Problem(`Rollout ${name} in namespace ${namespace} has been deleted.`);
      const app = explainRollout(rollout, live.related, context.now());
      const style = styleOf(context);
      unknown = release === undefined ? undefined : unknownText(rollout, release);
      if (!last && unknown) terminal.note(style.text(`${unknown}: waiting until it is published.`));
      for (const line of changeLines(last, app)) terminal.note(style.text(line));
      last = app;
      const now = progress(app, rollout);
      if (now === 'under way') continue;
      terminal.print(lineOf(app, style));
      return now === 'reached' ? EXIT.ok : EXIT.failed;
    }
    if (signal.aborted) return EXIT.interrupted;
    const style = styleOf(context);
    terminal.print(`Timed out waiting for: ${what}`);
    if (unknown) terminal.print(style.text(unknown));
    if (last) terminal.print(lineOf(last, style));
    return EXIT.timeout;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** The application in one line: `shop/my-app: 1.1.0 waits, 1.0.0 runs: Gate shop/freeze is closed by sre: INC-7`. */
export function lineOf({ namespace, name, headline, state, causes }: Application, style: Style): string {
  const why = state === 'done' ? undefined : causes[0]?.text;
  return style.text(`${namespace}/${name}: ${headline}${why ? `: ${why}` : ''}`);
}

export function timeoutOf(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Problem(`--timeout: '${text}' is not a time such as 90s, 10m or 1h.`, EXIT.usage);
}
