/** What one write may do to the fields that Rollouts own (docs/reference/writes.md, W1 to W7). */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, RECONCILE_REQUESTED_AT } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { DeploymentRef, ManagedField, Rollout } from '../../api/types.ts';
import { annotate, annotateAll } from '../kube/annotate.ts';
import { newProblems } from '../kube/fieldProblem.ts';
import { sameJson } from '../kube/json.ts';
import { type Writers, writersOf } from '../kube/writers.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';
import type { TextWithCommands } from '../text/commands.ts';
import { type AtomicUpdate, artifactBefore, atomicUpdate } from './atomicUpdate.ts';
import {
  deploymentOf,
  deploymentText,
  deploymentWith,
  forceDeployCommand,
  formatDeployments,
  isSameVersion,
  parseDeployments,
  setByGit,
} from './deployment.ts';
import {
  fieldKey,
  fieldPath,
  managedFieldsOf,
  readManagedField,
  strongerRefs,
  writeManagedFields,
} from './managedFields.ts';

interface ManagedFieldsWrite {
  /** As the writer wants it. */
  object: FluxObject;
  /** As stored; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
  /**
   * What a Kustomization's `spec.sourceRef` names, if it exists in the same namespace; `settled` if nothing can have
   * changed: see `isSettled`.
   */
  source?: FluxObject | 'settled' | undefined;
}

interface ManagedFieldsOutcome {
  /** As it is to be stored: fields, and the annotation of the deployments. */
  object: FluxObject;
  warnings: string[];
  /** Whether the writer wanted another value than what is stored now. */
  held: boolean;
  /** Not empty: the write is refused, for these reasons. */
  denials: TextWithCommands[];
}

/** Read by manifests/policies/whole-versions.yaml. */
const NOTICE = 'rollout-hooks/';

interface Decision {
  value: string | undefined;
  deployment?: DeploymentRef | undefined;
  /** Set back to the managed value: the warning for the writer. */
  held?: string;
  warning?: string;
  denial?: TextWithCommands;
  /** Git sets the field: it is left as it is written. */
  byGit?: true;
}

/**
 * Context shared by the decisions on all managed fields in one write: an object may have many of them, and each text is
 * read once.
 */
interface Case extends ManagedFieldsWrite {
  fields: readonly ManagedField[];
  atomic: AtomicUpdate | undefined;
  wasManaged(field: ManagedField): boolean;
  /** Carried by the old object, or by the new one on CREATE; by Rollout. */
  deployments: ReadonlyMap<string, DeploymentRef>;
  /** The Rollouts among them whose fields Git sets. */
  byGit: ReadonlySet<string>;
  isApply(field: ManagedField): boolean;
}

export function setManagedFields(write: ManagedFieldsWrite): ManagedFieldsOutcome {
  const { object: written, oldObject, source } = write;
  const { fields, problems } = managedFieldsOf(written);
  const before = oldObject && managedFieldsOf(oldObject);
  const at = caseOf(write, fields, before?.fields ?? []);
  const warnings = newProblems(problems, before?.problems);
  const denials: TextWithCommands[] = [];
  const held: string[] = [];
  const deployments = new Map<string, DeploymentRef>();
  const byGit = new Set<string>();
  const values: [ManagedField, string | undefined][] = [];
  for (const field of fields) {
    const decision = decideField(field, at);
    if (decision.held) held.push(decision.held);
    if (decision.warning) warnings.push(decision.warning);
    if (decision.denial) denials.push(decision.denial);
    if (decision.deployment && !deployments.has(field.rollout)) deployments.set(field.rollout, decision.deployment);
    if (decision.byGit) byGit.add(field.rollout);
    if (decision.byGit || (!decision.deployment && decision.held === undefined)) continue;
    const stronger = strongerRefs(written, field);
    if (stronger.length > 0) held.push(`${stronger.join(' and ')} removed from spec.ref, because it overrides the tag`);
    values.push([field, decision.value]);
  }
  if (held.length > 0) warnings.unshift(held.join('; '));
  const carried = deployments.size > 0 ? formatDeployments([...deployments.values()], byGit) : undefined;
  const marked = annotate(writeManagedFields(written, values), DEPLOYED, carried);
  const object = source === 'settled' ? marked : withArtifact(marked, oldObject, source, at.atomic);
  return { object, warnings, held: held.length > 0, denials };
}

/** With our annotations of an atomic update; without them if there is none. */
function withArtifact(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  source: FluxObject | undefined,
  atomic: AtomicUpdate | undefined,
): FluxObject {
  if (!atomic) return annotateAll(object, { [ARTIFACT]: undefined, [AWAITS_ARTIFACT]: undefined });
  const before = oldObject ? oldObject.metadata.annotations?.[ARTIFACT] : atomic.head?.version;
  const next = annotateAll(object, {
    [ARTIFACT]: atomic.artifact ?? before ?? artifactBefore(source),
    [AWAITS_ARTIFACT]: atomic.awaits && formatDeployments([atomic.awaits]),
  });
  if (!oldObject) return next;
  const notice = mustBeSeen(next, oldObject) ? noticeOf(oldObject) : unseenNotice(oldObject);
  return notice === undefined ? next : annotate(next, RECONCILE_REQUESTED_AT, notice);
}

/** The write that suspends for a version; or that changes what may be applied, if no suspension came first. */
function mustBeSeen(object: FluxObject, oldObject: FluxObject): boolean {
  const [now, before] = [object.metadata.annotations ?? {}, oldObject.metadata.annotations ?? {}];
  if (now[AWAITS_ARTIFACT] !== undefined) return now[AWAITS_ARTIFACT] !== before[AWAITS_ARTIFACT];
  return before[ARTIFACT] !== undefined && now[ARTIFACT] !== before[ARTIFACT] && before[AWAITS_ARTIFACT] === undefined;
}

/**
 * kustomize-controller echoes it in `status.lastHandledReconcileAt`, also while it is suspended, once it has seen this
 * write: until then it may still be at work on an older version of the object, and the policy lets it begin nothing.
 */
function noticeOf({ metadata }: FluxObject): string {
  return `${NOTICE}${metadata.generation ?? 0}`;
}

/**
 * Stays until it is echoed: another request in its place, which will be handled all the same, would end what the policy
 * waits for.
 */
function unseenNotice({ metadata, status }: FluxObject): string | undefined {
  const requested = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return requested?.startsWith(NOTICE) && requested !== status?.lastHandledReconcileAt ? requested : undefined;
}

/**
 * Whether a write can be decided without the object's source: it carries what its Rollouts have deployed, its source
 * had it when that was written, and the write touches none of this.
 */
export function isSettled(object: FluxObject, oldObject: FluxObject, rollouts: ReadonlyMap<string, Rollout>): boolean {
  const deployments = deploymentsOn(oldObject);
  const { fields } = managedFieldsOf(oldObject);
  const isAsStored = [ARTIFACT, AWAITS_ARTIFACT, DEPLOYED].every(
    (key) => object.metadata.annotations?.[key] === oldObject.metadata.annotations?.[key],
  );
  return (
    isAsStored &&
    unseenNotice(oldObject) === undefined &&
    oldObject.metadata.annotations?.[ARTIFACT] !== undefined &&
    oldObject.metadata.annotations?.[AWAITS_ARTIFACT] === undefined &&
    sameJson(object.spec?.sourceRef, oldObject.spec?.sourceRef) &&
    sameJson(managedFieldsOf(object).fields, fields) &&
    fields.every(({ rollout }) => {
      const head = deploymentOf(rollouts.get(rollout));
      const carried = deployments.get(rollout);
      return head && carried && isSameVersion(head, carried);
    })
  );
}

function caseOf(write: ManagedFieldsWrite, fields: readonly ManagedField[], before: readonly ManagedField[]): Case {
  const { object, oldObject, rollouts, source } = write;
  const managed = new Set(before.map(fieldKey));
  const stored = oldObject ?? object;
  let writers: Writers | undefined;
  return {
    ...write,
    fields,
    atomic: source === 'settled' ? undefined : atomicUpdate(fields, rollouts, source),
    wasManaged: (field) => managed.has(fieldKey(field)),
    deployments: deploymentsOn(stored),
    byGit: setByGit(stored.metadata.annotations?.[DEPLOYED]),
    isApply(field) {
      writers ??= writersOf(object, oldObject);
      return fieldPath(field)
        .reduce((at, key) => at.at(key), writers)
        .applied(readManagedField(object, field));
    },
  };
}

function decideField(field: ManagedField, at: Case): Decision {
  const rollout = at.rollouts.get(field.rollout);
  if (rollout ? writeBackName(rollout) : at.byGit.has(field.rollout)) return leaveToGit(field, at);
  const live = deploymentOf(rollout);
  if (!live) return keep(field, at);
  if (at.atomic?.rollout !== field.rollout) return follow(field, live, at);
  // What the source has, or else what the object was given while it had that.
  // A new object runs nothing yet that could be mixed.
  const target = at.atomic.fetched ?? (at.oldObject ? at.deployments.get(field.rollout) : at.atomic.head);
  return target ? follow(field, target, at) : stayUntilFetched(field, live, at);
}

/** Only which deployment the value is gets noted: none if the object's fields of this Rollout differ. */
function leaveToGit(field: ManagedField, at: Case): Decision {
  const value = readManagedField(at.object, field);
  const own = at.fields.filter(({ rollout }) => rollout === field.rollout);
  if (value === undefined || own.some((each) => readManagedField(at.object, each) !== value))
    return { value, byGit: true };
  const kept = at.deployments.get(field.rollout);
  const rollout = at.rollouts.get(field.rollout);
  const deployment = deploymentOf(rollout) ? deploymentWith(rollout!, value) : kept && { ...kept, version: value };
  return { value, deployment, byGit: true };
}

/** The value becomes that of the deployment. */
function follow(field: ManagedField, live: DeploymentRef, at: Case): Decision {
  const value = readManagedField(at.object, field);
  const wasManaged = at.wasManaged(field);
  const decision: Decision = { value: live.version, deployment: live };
  const stays = `${shortName(field)} stays ${live.version}, deployed by Rollout ${field.rollout}`;
  if (value === live.version) return decision;
  if (value === undefined) return wasManaged ? { ...decision, held: stays } : decision;
  // The old value: the Rollout has moved on since, and the writer did not touch the field.
  if (at.oldObject && value === readManagedField(at.oldObject, field)) return decision;
  if (!wasManaged || at.isApply(field)) return { ...decision, held: stays };
  return { ...decision, denial: denialOf(field, live, value, at.object) };
}

/** The source is fetching the first deployment: the value stays what it was before it. */
function stayUntilFetched(field: ManagedField, live: DeploymentRef, at: Case): Decision {
  const value = readManagedField(at.object, field);
  const old = at.oldObject && readManagedField(at.oldObject, field);
  if (value === old || !at.wasManaged(field)) return { value };
  if (value !== undefined && !at.isApply(field)) return { value, denial: denialOf(field, live, value, at.object) };
  const held = `${shortName(field)} stays ${old ?? 'unset'} until its source has fetched ${deploymentText(live)}`;
  return { value: old, held };
}

/** The Rollout is gone or has deployed nothing: what the object carries is all there is to go by. */
function keep(field: ManagedField, at: Case): Decision {
  const value = readManagedField(at.object, field);
  const kept = at.deployments.get(field.rollout);
  // A backup restored: the annotation that came with the object counts if the object really carries that version.
  if (!at.oldObject) return { value, deployment: kept?.version === value ? kept : undefined };
  const old = readManagedField(at.oldObject, field);
  if (!kept || value === old) return { value, deployment: kept };
  const why = at.rollouts.has(field.rollout) ? 'has deployed nothing yet' : 'does not exist';
  if (old !== undefined && (value === undefined || at.isApply(field))) {
    return { value: old, deployment: kept, held: `${shortName(field)} stays ${old}: Rollout ${field.rollout} ${why}` };
  }
  const warning = `${shortName(field)} is now ${value} and no Rollout manages it: ${field.rollout} ${why}`;
  // A Rollout created later adopts what the object carries, so the annotation says that and not what it was.
  return { value, deployment: { ...kept, version: value ?? kept.version }, warning };
}

/** The first deployment of each Rollout on the object. */
function deploymentsOn({ metadata }: FluxObject): Map<string, DeploymentRef> {
  const deployments = parseDeployments(metadata.annotations?.[DEPLOYED]);
  return new Map(deployments.reverse().map((deployment) => [deployment.rollout, deployment]));
}

function shortName(field: ManagedField): string {
  return field.variable ?? 'spec.ref.tag';
}

function denialOf(field: ManagedField, live: DeploymentRef, value: string, { metadata }: FluxObject): TextWithCommands {
  return {
    text:
      `${fieldPath(field).join('.')} cannot be set to '${value}': Rollout '${field.rollout}' manages it and has deployed ` +
      `'${live.version}'. To stay on another version, set spec.wantedVersion on that Rollout.`,
    commands: [['To deploy another version', forceDeployCommand(metadata.namespace, field.rollout, value)]],
  };
}
