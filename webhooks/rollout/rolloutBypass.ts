/**
 * A bypass on a Rollout: one deployment bypasses the Gates that are closed now, both the Rollout's and those of its
 * bound objects.
 */
import type { AdmissionRequest } from '../../api/admission.ts';
import { BYPASS_FOR, BYPASS_REASON, BYPASSED_GATES } from '../../api/annotations.ts';
import type { Artifact, FluxObject } from '../../api/flux.ts';
import { KUSTOMIZATIONS } from '../../api/kinds.ts';
import type { ResourceRef, WebhookCall } from '../../api/ports.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { bindingsOfRollout } from '../../core/binding/boundObjects.ts';
import { freshReason, mayRequestBypass, recordReason } from '../../core/gate/bypassReason.ts';
import { closureKeys } from '../../core/gate/closedGates.ts';
import { rolloutsOfObject } from '../../core/managedField/managedFields.ts';
import { sourceResource } from '../../core/managedField/source.ts';
import { bypassText, bypassWarning, type Denial, subjectOf } from '../../core/objectGates/gateTexts.ts';
import { bypassTarget } from '../../core/rollout/evaluation/bypassTarget.ts';
import { currentGrant, formatBypassGrant } from '../../core/suspension/bypassGrant.ts';
import { MAX_LISTED } from '../../core/text/firstFew.ts';
import { listBindings } from '../../live/gateReads.ts';
import { recordBypass, reviewBypass } from '../bypass.ts';
import { readClosedGatesOfRollouts, readDroppedClosedGates } from '../closedGateReads.ts';

interface RolloutBypass {
  /** The value of the annotation BYPASSED_GATES; undefined if no bypass is in force. */
  grant?: string | undefined;
  /** Whether the reason in this write is recorded, because it bypasses a Gate, or allows a deletion. */
  counts: boolean;
  warnings: string[];
  audit?: Record<string, string>;
  /** Why the write is denied. A user who lacks the right on one of the closed Gates bypasses none. */
  denial?: Denial;
}

/**
 * The bypass that a write of the Rollout requests.
 * @param rollout the Rollout as the write stores it, with the ids of its requests
 * @param bypassFor the annotation BYPASS_FOR, which is not stored
 */
export async function bypassOf(
  rollout: Rollout,
  old: Rollout | undefined,
  bypassFor: string | undefined,
  request: AdmissionRequest,
  call: WebhookCall,
): Promise<RolloutBypass> {
  const reason = freshReason(rollout, old);
  const unchanged = { grant: keptGrant(rollout, old), counts: false, warnings: [] };
  if (!old || reason === undefined) return { ...unchanged, warnings: bypassFor === undefined ? [] : [NO_REASON] };
  const { username } = request.userInfo;
  const [closed, dropped] = await Promise.all([
    readClosedGatesOfRollouts([rollout], call),
    readDroppedClosedGates(rollout, old, call),
  ]);
  const bypass = await reviewBypass(closed, reason, request, call);
  // A reason for Gates that the write drops counts without a version and without the right for the other Gates. The
  // validating webhook reviews the bypass of the dropped ones.
  const drops = dropped !== undefined;
  if (!closed || !bypass) return { ...unchanged, counts: drops };
  if (!bypass.granted) {
    if (drops) return { ...unchanged, counts: true, warnings: [`Other Gates are not bypassed: ${bypass.why}`] };
    // A Git sync with a reason isn't denied, because a denial would stop everything else in that sync.
    if (!mayRequestBypass(username, call.settings.bypassServiceAccounts))
      return { ...unchanged, warnings: [`Bypass denied: ${bypass.why}`] };
    const text = `${subjectOf(rollout)} cannot bypass its closed Gates`;
    const todo = { text: bypassText(bypass, 'write', closed) };
    return { ...unchanged, denial: { reason: 'gate_closed', text, closed, todo } };
  }
  const bound = bindingsOfRollout(rollout, await listBindings([rollout], call.cluster));
  const target = bypassTarget(rollout, old, username, bypassFor, bound);
  if (target.is === 'denied' && !drops) {
    const { text: why, commands } = target.why;
    const text = `${subjectOf(rollout)} cannot bypass its closed Gates: ${why}.`;
    return { ...unchanged, denial: { reason: 'gate_closed', text, todo: { commands } } };
  }
  if (target.is !== 'deployment') return { ...unchanged, counts: true, warnings: drops ? [] : [NOTHING_WAITS] };
  const { deployment, requestsVersion } = target;
  const stored = recordReason(rollout, old, username, call.now, true);
  const audit = await recordBypass(bypass, stored, request, call, deployment.version);
  const grant = formatBypassGrant({ ...deployment, grantedAt: call.now, closures: closureKeys(closed) });
  // webhooks/rollout/rolloutWarnings.ts warns about a version that the write requests.
  const bypasses = requestsVersion ? [] : [bypassWarning(deployment.version, closed)];
  return { grant, counts: true, audit, warnings: [...bypasses, ...(await newerSourceWarnings(bound, rollout, call))] };
}

const NOTHING_WAITS =
  'no version waits, so no Gate is bypassed. For five minutes the reason lets you delete the Rollout or write its status';
const NO_REASON = `${BYPASS_FOR} has no effect without a new ${BYPASS_REASON} in the same write`;

/**
 * The stored grant. It stays as long as its reason does. While its deployment is rolling out it stays without its
 * reason too, because Flux removes kubectl's annotations from a Rollout that comes from Git. A grant in the write
 * itself doesn't count.
 */
function keptGrant(rollout: Rollout, old: Rollout | undefined): string | undefined {
  const annotations = old?.metadata.annotations;
  const reason = annotations?.[BYPASS_REASON];
  const hasReason = reason !== undefined && rollout.metadata.annotations?.[BYPASS_REASON] === reason;
  return old && (hasReason || currentGrant(old)) ? annotations?.[BYPASSED_GATES] : undefined;
}

// Warnings about newer sources: a Kustomization that runs also applies everything else that its source has fetched.

/**
 * Warnings for the first few bound Kustomizations whose source has fetched something newer than they have applied.
 * None for a source that the Rollout manages, because it fetches just the deployment.
 */
async function newerSourceWarnings(
  bound: readonly FluxBinding[],
  rollout: Rollout,
  call: WebhookCall,
): Promise<string[]> {
  const syncs = bound.filter(({ spec }) => spec?.target.kind === 'Kustomization');
  const texts = await Promise.all(
    syncs.slice(0, MAX_LISTED).map((binding) => newerSourceWarning(binding, rollout, call)),
  );
  return texts.filter((text) => text !== undefined);
}

async function newerSourceWarning(
  { metadata, spec }: FluxBinding,
  rollout: Rollout,
  { cluster }: WebhookCall,
): Promise<string | undefined> {
  const { source, target } = spec ?? {};
  const resource = source && sourceResource(source);
  if (!source || !resource || !target) return undefined;
  const { apiVersion, kind, ...named } = source;
  // If a read fails, the Warning is left out: it must not stop a bypass.
  const read = (ref: ResourceRef & { name: string }) => cluster.get<FluxObject>(ref).catch(() => undefined);
  const [object, sync] = await Promise.all([
    read({ apiVersion, resource, ...named }),
    read({ ...KUSTOMIZATIONS, namespace: metadata.namespace ?? '', name: target.name }),
  ]);
  const managesSource =
    named.namespace === metadata.namespace &&
    object !== undefined &&
    rolloutsOfObject(object).includes(rollout.metadata.name ?? '');
  const revision = (object?.status?.artifact as Artifact | undefined)?.revision;
  const { lastAppliedRevision } = (sync?.status ?? {}) as { lastAppliedRevision?: string };
  if (managesSource || revision === undefined || revision === lastAppliedRevision) return undefined;
  return `Kustomization '${target.name}' then also applies what ${kind} '${named.name}' has fetched since its last apply`;
}
