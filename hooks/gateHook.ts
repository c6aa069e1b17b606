/** CompositeController `gates`: a Gate's status, and when to compute it again. No children. */
import { apiVersionOf, FLUX_BINDINGS, GOVERNED_KINDS, NAMESPACES, ROLLOUTS, resourceOf } from '../api/kinds.ts';
import type { EpochMs, KubeObject, Secret } from '../api/kubernetes.ts';
import type { ClusterReader, Cut, HookCall, RequiringObjects } from '../api/ports.ts';
import type { FluxBinding, Gate, Rollout } from '../api/types.ts';
import { approvalEvents, approvalsStatus } from '../core/approval/approvalStatus.ts';
import { standingApprovals, withoutDeletedRollouts } from '../core/gate/evaluateGates.ts';
import { BEYOND_FORBIDDEN, reachesBeyond, requirersOf } from '../core/gate/gateSelection.ts';
import { evaluateGate, type GateEvaluation } from '../core/gate/gateState.ts';
import { type GateFacts, gateEvents, gateStatus, isSettling, resyncSeconds } from '../core/gate/gateStatus.ts';
import { requiringIndex } from '../core/gate/requiringIndex.ts';
import { eventRecord } from '../core/kube/events.ts';
import { memoryLimit } from '../core/kube/memoryLimit.ts';
import { identityOf, refKey } from '../core/kube/names.ts';
import { involvedObjectsOf } from '../core/notification/involvedObjects.ts';
import { reachMetadata, unheldOf, unresumedOf } from '../core/objectGates/unreachedObjects.ts';
import { oidcProblem } from '../core/receiver/idToken.ts';
import { idTokenPath, tokenBytes, webhookPath } from '../core/receiver/webhookPath.ts';
import { listKept } from '../live/objectReads.ts';
import type { CompositeHook } from './hook.ts';

/** Nothing triggers a sync of the Gate when its Secret appears, or the right to read it. */
const RECEIVER_REQUEUE_SECONDS = 30;

/** How old the list of requiring objects may be. */
const REQUIRING_MAX_AGE_MS = 30_000;
/**
 * How old it may be for a Gate that has just changed: three seconds for a list of 1000 objects, longer for more.
 * Any tenant can change a Gate, and a list of 20,000 objects takes a second of this server's time.
 */
const CHANGED_GATE_REQUIRING_MAX_AGE_MS = 3000;
const CHANGED_GATE_MAX_AGE_MS_PER_OBJECT = 3;

export const gateHook: CompositeHook<Gate> = {
  async sync({ parent: gate }, call) {
    const ref = identityOf(gate);
    const evaluation = withForbidden(gate, evaluateGate(gate, call.now), call);
    const [known, receiver] = await Promise.all([readRequiring(gate, call), receiverOf(gate, call)]);
    const requiring = known?.of(gate);
    const requirers = requiring && requirersOf(gate, requiring);
    const unheld = requiring && unheldOf(gate, requiring.objects, requiring.namespaces);
    const unresumed = requiring && unresumedOf(gate, requiring.objects, requiring.namespaces);
    const standing = standingApprovals(gate, call.now);
    const record = known ? withoutDeletedRollouts(standing, known.rolloutUids) : standing;
    const { status: approvals, until } = approvalsStatus(gate.spec.approvals, record, undefined, undefined, call.now);
    const facts = { readAt: known?.readAt, requirers, unheld, unresumed, receiver, approvals };
    const status = gateStatus(gate, evaluation, facts, call.now);
    const given = approvalEvents(gate.status?.approvals, approvals, record, call.now);
    const involvedObjects = involvedObjectsOf(requirers ?? gate.status?.heldObjects ?? [], ref.namespace);
    for (const event of [...gateEvents(gate, status, evaluation.message), ...given]) {
      call.events.record({ ...eventRecord(event, gate, call.now), involvedObjects });
    }
    const resync = resyncSeconds(gate, evaluation, call.now, until);
    const isUnready = receiver && 'problem' in receiver;
    return {
      status,
      children: [],
      resyncAfterSeconds: isUnready ? Math.min(resync, RECEIVER_REQUEUE_SECONDS) : resync,
    };
  },
};

/**
 * The objects that may require a Gate, listed once for all Gates: as related objects they would trigger a sync of every
 * Gate at every change of any binding. undefined if the cluster does not answer, or they are too large: the Gate is
 * evaluated anyway.
 */
async function readRequiring(gate: Gate, { cluster, sharedReads, now }: HookCall): Promise<KnownRequiring | undefined> {
  // A failure is shared too: repeated by every Gate, the lists would keep an overloaded API server overloaded.
  const list = () => listRequiring(cluster, now).catch(() => undefined);
  const read = (maxAgeMs: number) => sharedReads.recent(maxAgeMs, 'requiring objects', list);
  const known = await read(REQUIRING_MAX_AGE_MS);
  if (!known || !isSettling(gate, now)) return known;
  return read(Math.max(CHANGED_GATE_REQUIRING_MAX_AGE_MS, CHANGED_GATE_MAX_AGE_MS_PER_OBJECT * known.count));
}

interface KnownRequiring {
  /** When the list began. */
  readAt: EpochMs;
  /** The number of objects in it. */
  count: number;
  /** The objects that may require the Gate. */
  of(gate: Gate): RequiringObjects;
  /** The uids of all Rollouts, by `refKey`. */
  rolloutUids: ReadonlyMap<string, string | undefined>;
}

async function listRequiring(cluster: ClusterReader, readAt: EpochMs): Promise<KnownRequiring | undefined> {
  const [bindings, rollouts, namespaces, objects] = await Promise.all([
    listKept(FLUX_BINDINGS, requiringPart<FluxBinding>, cluster),
    listKept(ROLLOUTS, requiringPart<Rollout>, cluster),
    cluster.listMetadata(NAMESPACES),
    listGoverned(cluster),
  ]);
  if (bindings.isTruncated || rollouts.isTruncated || objects.isTruncated) return undefined;
  const labels = namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const);
  const uids = rollouts.listed.map((rollout) => [refKey(identityOf(rollout)), rollout.metadata.uid] as const);
  const of = requiringIndex({
    bindings: bindings.listed,
    rollouts: rollouts.listed,
    namespaces: new Map(labels),
    objects: objects.listed,
  });
  const count = bindings.listed.length + rollouts.listed.length + objects.listed.length;
  return { readAt, count, of, rolloutUids: new Map(uids) };
}

/** All Flux objects that Gates may hold, with the metadata that shows whether one has reached them. */
async function listGoverned(cluster: ClusterReader): Promise<Cut<KubeObject>> {
  const fits = memoryLimit();
  const lists = await Promise.all(
    GOVERNED_KINDS.map(async (row) => {
      if (!(await cluster.serves(resourceOf(row)))) return { listed: [], isTruncated: false };
      const of = { apiVersion: apiVersionOf(row), kind: row.kind };
      const keep = (object: KubeObject) => ({ ...of, metadata: reachMetadata(object) });
      return listKept({ ...resourceOf(row), metadataOnly: true }, keep, cluster, { fits });
    }),
  );
  return { listed: lists.flatMap(({ listed }) => listed), isTruncated: lists.some(({ isTruncated }) => isTruncated) };
}

/** The parts of a FluxBinding or Rollout that show which Gates it requires. */
function requiringPart<T extends FluxBinding | Rollout>(object: KubeObject): T {
  const { metadata, spec } = object as unknown as T;
  const { name, namespace, uid, labels } = metadata;
  return { metadata: { name, namespace, uid, labels }, spec } as T;
}

/**
 * The evaluation, which reports a selection that is forbidden here. The Gate still holds its objects:
 * NO_CROSS_NAMESPACE_REFS must not end a freeze.
 */
function withForbidden(gate: Gate, evaluation: GateEvaluation, { settings }: HookCall): GateEvaluation {
  if (!settings.noCrossNamespaceRefs || !reachesBeyond(gate.spec.selects)) return evaluation;
  const stalled = [evaluation.stalled, BEYOND_FORBIDDEN].filter(Boolean).join('; ');
  return { ...evaluation, stalled };
}

/** The path at which the Gate takes calls, or why it takes none; undefined without `spec.receiver`. */
async function receiverOf(gate: Gate, { cluster, settings }: HookCall): Promise<GateFacts['receiver']> {
  const ref = identityOf(gate);
  const { oidc, secretRef } = gate.spec.receiver ?? {};
  if (oidc) return oidcProblem(gate, oidc, settings.oidcIssuers ?? []) ?? { path: idTokenPath(ref) };
  const name = secretRef?.name;
  if (!name) return undefined;
  const where = `Secret '${ref.namespace}/${name}'`;
  try {
    const secret = await cluster.get<Secret>({ apiVersion: 'v1', resource: 'secrets', namespace: ref.namespace, name });
    const data = secret?.data?.token;
    const token = tokenBytes(data);
    if (token.length > 0) return { path: webhookPath(token, ref) };
    const lacks = !secret ? 'does not exist' : data === undefined ? "has no key 'token'" : "has an empty key 'token'";
    return { reason: 'SecretInvalid', problem: `${where} ${lacks}` };
  } catch {
    // Whether the Gate is open must not depend on the right to read Secrets.
    return { reason: 'SecretUnreadable', problem: `${where} cannot be read` };
  }
}
