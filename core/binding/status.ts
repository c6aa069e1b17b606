/** What a FluxBinding says: which deployment its object should carry, what it has, and why it waits. */
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingSpec, FluxBindingStatus, Pin, Rollout } from '../../api/types.ts';
import { deploymentText, formatDeployments, isSameDeployment } from '../admission/managedFields/deployment.ts';
import { type Whole, wholeVersion } from '../admission/managedFields/whole.ts';
import type { Applied } from '../admission/suspend/applier.ts';
import { awaitsOf } from '../admission/suspend/resume.ts';
import { formatTime } from '../kube/time.ts';
import { carries, hasArrived } from './arrival.ts';
import { bindingConditions } from './conditions.ts';
import { TRACKING_KIND, whyNothingComes } from './helmRelease.ts';
import { headOf, type Report, rolloutsOf } from './report.ts';

export type PinState = NonNullable<FluxBindingStatus['pins']>[number];

export interface RelatedToBinding {
  report: Report;
  /** Where a version arrives with its source. */
  whole?: Whole | undefined;
  /** The source named in the binding's spec, where it exists. */
  source?: FluxObject | undefined;
  /** The Kustomization that the binding's spec awaits, where it exists. */
  applier?: FluxObject | undefined;
}

/** Holds no times but those of changes: the same input gives the same status. */
export function bindingStatus(binding: FluxBinding, related: RelatedToBinding, now: EpochMs): FluxBindingStatus {
  const spec = binding.spec ?? { target: { apiVersion: '', kind: '', name: '', uid: '' } };
  const before = binding.status ?? {};
  const { report, whole } = related;
  const { gates = [], passing = [] } = report;
  const held = gates.some((gate) => !gate.opened);
  const applied = latch(binding, related);
  const isFollower = spec.target.kind === TRACKING_KIND;
  const pins = (spec.pins ?? []).map((pin) => pinState(pin, related, applied, spec));
  const desired = desiredDeployments(spec, related, held);
  const awaits = awaitsOf(spec.awaits, before.awaits, related.applier, appliedBy(binding), now);
  const status: FluxBindingStatus = {
    ...(desired.length > 0 && {
      ...(!isFollower && { deployed: formatDeployments(desired) }),
      summary: desired.map(deploymentText).join(', '),
    }),
    ...(pins.length > 0 && { pins }),
    ...(whole && { source: sourceEntry(whole) }),
    ...(applied.length > 0 && { applied }),
    ...(gates.length > 0 && { gates }),
    ...(passing.length > 0 && { passing }),
    ...(held && { heldSince: before.heldSince ?? formatTime(now) }),
    ...(awaits && { awaits }),
  };
  return { ...status, conditions: bindingConditions(status, spec, before.conditions, now) };
}

function appliedBy({ spec, metadata }: FluxBinding): Applied {
  const { apiVersion = '', kind = '', name = '' } = spec?.target ?? {};
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name };
}

/** Where the object's source is pinned by one of its Rollouts too. */
export function wholeOf(
  { spec, metadata }: FluxBinding,
  rollouts: ReadonlyMap<string, Rollout>,
  source: FluxObject | undefined,
): Whole | undefined {
  const isOwn = spec?.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace;
  return isOwn && spec.target.kind !== TRACKING_KIND ? wholeVersion(spec?.pins ?? [], rollouts, source) : undefined;
}

function sourceEntry({ artifact, awaits, stuck }: Whole): NonNullable<FluxBindingStatus['source']> {
  return {
    ...(artifact !== undefined && { artifact }),
    ...(awaits && { awaits: formatDeployments([awaits]) }),
    ...(stuck !== undefined && { stuck }),
  };
}

/** Behind a closed gate, and for a Rollout with nothing to say, the object keeps what it carries. */
function desiredDeployments(
  spec: FluxBindingSpec,
  { report, whole }: RelatedToBinding,
  held: boolean,
): DeploymentRef[] {
  return rolloutsOf(spec).flatMap((name) => {
    const carried = spec.observed?.deployed?.find((deployment) => deployment.rollout === name);
    const next = whole?.rollout === name ? whole.fetched : headOf(report, name);
    const stays = held && !report.passing?.some(({ rollout }) => rollout === name);
    const deployment = stays ? carried : (next ?? carried);
    return deployment ? [deployment] : [];
  });
}

/** Proven once is proven: a later suspension moves the generation and hides the proof. Older deployments are dropped. */
function latch(binding: FluxBinding, related: RelatedToBinding): DeploymentRef[] {
  const names = rolloutsOf(binding.spec);
  const before = binding.status?.applied ?? [];
  return names.flatMap((name) => {
    const head = headOf(related.report, name);
    const latched = before.find((deployment) => deployment.rollout === name);
    if (!head) return latched ? [latched] : [];
    if (latched && isSameDeployment(latched, head)) return [latched];
    return hasArrived(binding, related.source, head) ? [head] : [];
  });
}

/** "Written, not applied yet" is not a state of its own: it would cost a write for each release, and a sync of everything related. */
function pinState(
  pin: Pin,
  related: RelatedToBinding,
  applied: readonly DeploymentRef[],
  spec: FluxBindingSpec,
): PinState {
  const head = headOf(related.report, pin.rollout);
  const entry = related.report.rollouts?.find(({ rollout }) => rollout === pin.rollout);
  if (!head) {
    const why = entry ? 'has deployed nothing yet' : 'does not exist';
    return { ...pin, state: 'Missing', message: `Rollout '${pin.rollout}' ${why}` };
  }
  const { id, version, uid } = head;
  const isFollower = spec.target.kind === TRACKING_KIND;
  const writeBack = isFollower ? undefined : entry?.writeBack;
  const has = { ...pin, id, version, uid, ...(writeBack !== undefined && { writeBack }) };
  // What Git sets may change after it has arrived.
  const awaitsGit = writeBack !== undefined && !carries(spec.observed?.deployed, head);
  if (!awaitsGit && carries(applied, head)) return { ...has, state: 'Applied' };
  const why = isFollower
    ? whyNothingComes(spec, related.source, pin.rollout)
    : awaitsGit
      ? `the object does not have it from Git yet; ImagePolicy '${writeBack}' selects it`
      : undefined;
  return { ...has, state: 'Waiting', ...(why !== undefined && { message: why }) };
}
