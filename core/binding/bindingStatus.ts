/**
 * The status of a FluxBinding: the deployments for its object, their states, and why the object waits.
 * Two hooks compute the status with this function:
 *
 * - the FluxBinding's own hook stores it, from the report in the spec, or else from the Rollouts and Gates that the
 *   FluxBinding relates;
 * - the decorator of the object acts on it one sync earlier (decorate.ts), if the decorator has every Rollout and Gate
 *   that the object names.
 */
import { APPROVED, GATE_CLOSED, GATES_OPEN, READY } from '../../api/conditions.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type {
  DeploymentRef,
  FluxBinding,
  FluxBindingSpec,
  FluxBindingStatus,
  ManagedField,
  Rollout,
} from '../../api/types.ts';
import { type ClosedGates, mapClosed, reportedClosed } from '../gate/closedGates.ts';
import { setCondition } from '../kube/conditions.ts';
import { formatTime } from '../kube/time.ts';
import { type AtomicUpdate, atomicUpdate } from '../managedField/atomicUpdate.ts';
import { deploymentText, formatDeployments, isSameDeployment } from '../managedField/deployment.ts';
import { bypassedSentences, closedSentences } from '../objectGates/gateTexts.ts';
import { applierWaitOf, applierWaitText, type ObjectKey } from '../suspension/applier.ts';
import { includesDeployment, missingSourceText, provesApply, TRACKING_KIND } from './appliedDeployment.ts';
import { gatesOfReport, headOf, type Report, rolloutsOfBinding } from './bindingSpec.ts';

export type ManagedFieldState = NonNullable<FluxBindingStatus['fields']>[number];

interface RelatedToBinding {
  report: Report;
  /** Present if variables and source are updated together. */
  atomic?: AtomicUpdate;
  /** The source named in the binding's spec, if it exists. */
  source?: FluxObject;
  /** The Kustomization that the binding's spec awaits, if it exists. */
  applier?: FluxObject;
}

/** The status of a FluxBinding. All its times are times of changes, so the same input gives the same status. */
export function bindingStatus(binding: FluxBinding, related: RelatedToBinding, now: EpochMs): FluxBindingStatus {
  const spec = binding.spec ?? { target: { apiVersion: '', kind: '', name: '', uid: '' } };
  const before = binding.status ?? {};
  const { report, atomic } = related;
  const { bypassing = [] } = report;
  const gates = gatesOfReport(report);
  const held = gates.some((gate) => !gate.opened);
  const applied = provenDeployments(binding, related);
  const tracks = spec.target.kind === TRACKING_KIND;
  const fields = (spec.fields ?? []).map((field) => fieldState(field, related, applied, spec));
  const desired = desiredDeployments(spec, related, held);
  const awaits = applierWaitOf(spec.awaits, before.awaits, related.applier, targetOfBinding(binding), now);
  const status: FluxBindingStatus = {
    ...(desired.length > 0 && {
      ...(!tracks && { deployed: formatDeployments(desired) }),
      summary: desired.map(deploymentText).join(', '),
    }),
    ...(fields.length > 0 && { fields }),
    source: atomic && sourceEntry(atomic),
    ...(applied.length > 0 && { applied }),
    ...(gates.length > 0 && { gates }),
    ...(bypassing.length > 0 && { bypassing }),
    ...(held && { heldSince: before.heldSince ?? formatTime(now) }),
    awaits,
  };
  return { ...status, conditions: bindingConditions(status, spec, before.conditions, now) };
}

/** The object of a FluxBinding, as an inventory lists it. */
export function targetOfBinding({ spec, metadata }: FluxBinding): ObjectKey {
  const { apiVersion = '', kind = '', name = '' } = spec?.target ?? {};
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name };
}

/** The atomic update of the object; undefined unless one of its Rollouts manages its source too. */
export function atomicUpdateOf(
  { spec, metadata }: FluxBinding,
  rollouts: ReadonlyMap<string, Rollout>,
  source: FluxObject | undefined,
): AtomicUpdate | undefined {
  const isOwn = spec?.source?.kind === 'OCIRepository' && spec.source.namespace === metadata.namespace;
  return isOwn && spec.target.kind !== TRACKING_KIND ? atomicUpdate(spec?.fields ?? [], rollouts, source) : undefined;
}

function sourceEntry({ artifact, awaits, stuck }: AtomicUpdate): NonNullable<FluxBindingStatus['source']> {
  return { artifact, awaits: awaits && formatDeployments([awaits]), stuck };
}

/**
 * The deployments that the object should carry. While a Gate is closed, or if the Rollout has no deployment, the object
 * keeps the deployment that it carries.
 */
function desiredDeployments(
  spec: FluxBindingSpec,
  { report, atomic }: RelatedToBinding,
  held: boolean,
): DeploymentRef[] {
  return rolloutsOfBinding(spec).flatMap((name) => {
    const carried = spec.observed?.deployed?.find((deployment) => deployment.rollout === name);
    const next = atomic?.rollout === name ? atomic.fetched : headOf(report, name);
    const stays = held && !report.bypassing?.some(({ rollout }) => rollout === name);
    const deployment = stays ? carried : (next ?? carried);
    return deployment ? [deployment] : [];
  });
}

/**
 * The newest deployment of each Rollout with proof that it is applied. A stored proof stays, because a later suspension
 * changes the generation and would hide it.
 */
function provenDeployments(binding: FluxBinding, related: RelatedToBinding): DeploymentRef[] {
  const names = rolloutsOfBinding(binding.spec);
  const before = binding.status?.applied ?? [];
  return names.flatMap((name) => {
    const head = headOf(related.report, name);
    const proven = before.find((deployment) => deployment.rollout === name);
    if (!head) return proven ? [proven] : [];
    if (proven && isSameDeployment(proven, head)) return [proven];
    return provesApply(binding, related.source, head) ? [head] : [];
  });
}

/**
 * The state of one managed field. There is no state "written, not applied yet", which would cost every release another
 * write and a sync of everything related.
 */
function fieldState(
  field: ManagedField,
  related: RelatedToBinding,
  applied: readonly DeploymentRef[],
  spec: FluxBindingSpec,
): ManagedFieldState {
  const head = headOf(related.report, field.rollout);
  const entry = related.report.rollouts?.find(({ rollout }) => rollout === field.rollout);
  if (!head) {
    const name = `Rollout '${field.rollout}'`;
    const what = entry ? `the first deployment of ${name}` : `${name}, which does not exist`;
    return { ...field, state: 'Missing', message: `waiting for ${what}` };
  }
  const { id, version, uid } = head;
  const tracks = spec.target.kind === TRACKING_KIND;
  const writeBack = tracks ? undefined : entry?.writeBack;
  const has = { ...field, id, version, uid, writeBack };
  const isApplied = includesDeployment(applied, head);
  // Git may have set another value after the deployment was applied, or a user while the webhook was not called.
  const isKept = tracks || includesDeployment(spec.observed?.deployed, head);
  if (isApplied && isKept) return { ...has, state: 'Applied' };
  const why = tracks
    ? missingSourceText(spec, related.source, field.rollout)
    : otherValueText(writeBack, { isKept, isApplied });
  return { ...has, state: 'Waiting', message: why };
}

/** Why the object doesn't have the version in its field; undefined if nothing but Flux's apply is awaited. */
function otherValueText(
  writeBack: string | undefined,
  { isKept, isApplied }: Record<'isKept' | 'isApplied', boolean>,
): string | undefined {
  if (isKept) return undefined;
  if (writeBack !== undefined) return `no commit has set it in Git yet (ImagePolicy '${writeBack}' selects it)`;
  return isApplied ? 'another value was written while the webhook was not called' : undefined;
}

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

const ALL_OPEN: Finding = { status: 'True', reason: GATES_OPEN, message: 'All gates are open' };

/**
 * The conditions. Ready is True if each managed field is applied, no Gate holds the object, and the object does not
 * wait for its applier. Approved exists only if the object requires Gates.
 */
function bindingConditions(
  status: FluxBindingStatus,
  spec: FluxBindingSpec,
  before: Condition[] | undefined,
  now: EpochMs,
): Condition[] {
  const set = (conditions: Condition[] | undefined, type: string, finding: Finding) =>
    setCondition(conditions, { type, ...finding }, now);
  const closed = reportedClosed(status.gates);
  const conditions = set(before, READY, readyFinding(status, spec, closed));
  return status.gates?.length
    ? set(conditions, APPROVED, approvedFinding(status, closed))
    : conditions.filter(({ type }) => type !== APPROVED);
}

function readyFinding(status: FluxBindingStatus, spec: FluxBindingSpec, closed: ClosedGates | undefined): Finding {
  const { fields = [], bypassing, awaits } = status;
  const closedTexts = (some: ClosedGates) =>
    mapClosed(
      some,
      (limit) => `held: ${limit}`,
      ({ key, message }) => `waiting for gate ${key}: ${message}`,
    );
  const waits: [reason: string, messages: string[]][] = [
    ['InvalidAnnotations', spec.problems ?? []],
    [GATE_CLOSED, closed && !bypassing ? closedTexts(closed) : []],
    ['Resuming', awaits ? [`suspended ${applierWaitText(awaits)}`] : []],
    [
      'RolloutNotDeployed',
      fields.flatMap((field) => (field.state === 'Missing' && field.message ? [field.message] : [])),
    ],
  ];
  const [first] = waits.filter(([, messages]) => messages.length > 0);
  if (first) {
    return {
      status: 'False',
      reason: first[0],
      message: joinOnce(
        waits.flatMap(([, list]) => list),
        '; ',
      ),
    };
  }
  if (fields.length === 0) return ALL_OPEN;
  const waiting = fields.filter((field) => field.state === 'Waiting');
  if (waiting.length > 0) {
    const why = waiting.map((field) => (field.message === undefined ? '' : `: ${field.message}`)).join('');
    const message = `waiting for ${waitText(status, spec, joinOnce(waiting.map(deploymentText), ', '))}${why}`;
    return { status: 'Unknown', reason: 'Progressing', message };
  }
  return { status: 'True', reason: 'Applied', message: `${joinOnce(fields.map(deploymentText), ', ')} applied` };
}

function waitText({ source }: FluxBindingStatus, { source: of, target }: FluxBindingSpec, deployments: string): string {
  const name = `${of?.kind} '${of?.name}'`;
  if (source?.stuck !== undefined) {
    return `${deployments}, but ${name} ${source.stuck}. ${target.kind} '${target.name}' stays on its present version`;
  }
  return source?.awaits === undefined
    ? `Flux to apply ${deployments}`
    : `${name} to fetch ${deployments}; ${target.kind} '${target.name}' is suspended until then`;
}

function approvedFinding({ bypassing }: FluxBindingStatus, closed: ClosedGates | undefined): Finding {
  if (!closed) return ALL_OPEN;
  const sentences = bypassing ? bypassedSentences(closed) : closedSentences(closed);
  return { status: 'False', reason: GATE_CLOSED, message: sentences.join(' ') };
}

/** The texts joined, each once. */
function joinOnce(texts: readonly string[], separator: string): string {
  return [...new Set(texts)].join(separator);
}
