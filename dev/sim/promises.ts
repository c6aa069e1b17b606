/** What the documents promise and dev/chaos does not judge: a bypass lets past what it names, and an opening waits for the applier. */
import type { AnyObject } from '../client/send.ts';
import { targetOf } from './apiServer/requests.ts';
import { keyOf } from './apiServer/storage.ts';
import type { World } from './world/world.ts';

const REASON = 'gate.fluxcd.io/bypass-reason';
const FORCE_DEPLOY = 'rollout.kuberik.com/force-deploy';
const STATE = 'gate.fluxcd.io/state';
const SUSPENDED = 'gate.fluxcd.io/suspended';
const APPLIER = 'kustomize.toolkit.fluxcd.io/name';
const METACONTROLLER = 'system:serviceaccount:metacontroller:metacontroller';
/** An applier that cannot apply is waited for no longer: docs/gates.md. */
const PATIENCE_MS = 120_000;

/** Sentences about what was not kept. */
export function unkept(world: World): string[] {
  return [...bypassesOfOthers(world), ...resumedTooEarly(world)];
}

/** A version that gets past closed Gates by a reason is the one that the write with that reason asked for. */
function bypassesOfOthers({ server, writes }: World): string[] {
  const named = new Map<string, string>();
  for (const { request, code } of writes) {
    const annotations: Record<string, string> = (request.body as AnyObject | undefined)?.metadata?.annotations ?? {};
    const [reason, version] = [annotations[REASON], annotations[FORCE_DEPLOY]];
    if (code < 300 && request.method === 'PATCH' && reason && version) named.set(reason, version);
  }
  const problems = new Map<string, string>();
  for (const { object, revision } of server.storage.events) {
    if (object.kind !== 'Rollout') continue;
    for (const { id, version, bypass } of object.status?.history ?? []) {
      const wanted = bypass && named.get(bypass.reason);
      if (wanted === undefined || wanted === version.tag || problems.has(`${keyOf(object)} ${id}`)) continue;
      problems.set(
        `${keyOf(object)} ${id}`,
        `Rollout ${keyOf(object)} at ${revision}, by a bypass that is for ${wanted}: deploys ${version.tag} (${id})`,
      );
    }
  }
  return [...problems.values()];
}

/**
 * After a closing, an object that Git applies is resumed by that apply, or by a person: not by hooks, but for an applier that will not come, and for an
 * object that has been applied since and waits for its artifact.
 */
function resumedTooEarly({ server, writes }: World): string[] {
  const writerAt = new Map(writes.map(({ user, object }) => [object?.metadata.resourceVersion, user]));
  const applied = new Map<string, number[]>();
  for (const { request, code, object, receivedMs } of writes) {
    if (code >= 300 || !object || !request.headers['content-type']?.startsWith('application/apply-patch')) continue;
    const { kind } = targetOf(request.path)!;
    const key = `${kind.group}/${kind.resource} ${keyOf(object)}`;
    if (!request.path.includes('dryRun=All')) applied.set(key, [...(applied.get(key) ?? []), receivedMs]);
  }
  const closedSince = new Map<string, number>();
  const problems: string[] = [];
  for (const { at, revision, object, before, resource } of server.storage.events) {
    const key = `${resource} ${keyOf(object)}`;
    const state: string = object.metadata.annotations?.[STATE] ?? '';
    const was: string = before?.metadata.annotations?.[STATE] ?? '';
    if (was.startsWith('closed') && !state.startsWith('closed')) closedSince.set(key, at);
    const isResumed = before?.spec?.suspend === true && object.spec?.suspend !== true;
    const opened = closedSince.get(key);
    if (!isResumed || !/^(closed|opening)/.test(was) || state !== 'open' || opened === undefined) continue;
    const isKept = object.metadata.labels?.[APPLIER] !== undefined && before.metadata.annotations?.[SUSPENDED];
    if (!isKept || writerAt.get(object.metadata.resourceVersion) !== METACONTROLLER) continue;
    const isApplied = applied.get(key)?.some((ms) => ms >= opened && ms < at) === true;
    if (at - opened < PATIENCE_MS && !isApplied)
      problems.push(
        `${key} at ${revision}, by hooks: is resumed ${at - opened} ms after its Gates opened, before Git has applied it`,
      );
  }
  return problems;
}
