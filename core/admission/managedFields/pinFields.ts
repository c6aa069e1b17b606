/** What one write may do to the fields that Rollouts own (docs/reference/writes.md, W1 to W7). */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { DeploymentRef, Pin, Rollout } from '../../../api/types.ts';
import { annotate, annotateAll } from '../../kube/annotate.ts';
import { newProblems } from '../../kube/fieldProblem.ts';
import { sameJson } from '../../kube/json.ts';
import { type Writers, writersOf } from '../../kube/managedFields.ts';
import { writeBackName } from '../../policy/derivedPolicy.ts';
import type { Saying } from '../../text/commands.ts';
import { pinAnnotationsOf, pinKey, pinPath, readPin, strongerRefs, writePins } from './annotations.ts';
import {
  deployCommand,
  deploymentOf,
  deploymentText,
  deploymentWith,
  formatDeployments,
  isSameVersion,
  parseDeployments,
  setByGit,
} from './deployment.ts';
import { type AtomicUpdate, artifactBefore, atomicUpdate } from './source.ts';

interface PinWrite {
  /** As the writer wants it. */
  object: FluxObject;
  /** As stored; absent on CREATE. */
  oldObject?: FluxObject | undefined;
  /** The Rollouts that the object names and that exist, by name. */
  rollouts: ReadonlyMap<string, Rollout>;
  /** What a Kustomization's `spec.sourceRef` names, where it exists in the same namespace; `settled` where nothing can have changed: see `isSettled`. */
  source?: FluxObject | 'settled' | undefined;
}

interface PinOutcome {
  /** As it is to be stored: fields, and the annotation of the deployments. */
  object: FluxObject;
  warnings: string[];
  /** Whether the writer wanted another value than what is stored now. */
  held: boolean;
  /** Not empty: the write is refused, for these reasons. */
  denials: Saying[];
}

/** Read by manifests/policies/whole-versions.yaml. */
const NOTICE = 'rollout-hooks/';

interface Decision {
  value: string | undefined;
  deployment?: DeploymentRef | undefined;
  /** Set back to the pinned value: the warning for the writer. */
  held?: string;
  warning?: string;
  denial?: Saying;
  /** Git sets the field: it is left as it is written. */
  byGit?: true;
}

/** Context shared by the decisions on all managed fields in one write: an object may have thousands of pins, and each text is read once. */
interface Case extends PinWrite {
  pins: readonly Pin[];
  atomic: AtomicUpdate | undefined;
  wasPinned(pin: Pin): boolean;
  /** Carried by the old object, or by the new one on CREATE; by Rollout. */
  deployments: ReadonlyMap<string, DeploymentRef>;
  /** The Rollouts among them whose fields Git sets. */
  byGit: ReadonlySet<string>;
  isApply(pin: Pin): boolean;
}

export function pinFields(write: PinWrite): PinOutcome {
  const { object: written, oldObject, source } = write;
  const { pins, problems } = pinAnnotationsOf(written);
  const before = oldObject && pinAnnotationsOf(oldObject);
  const at = caseOf(write, pins, before?.pins ?? []);
  const warnings = newProblems(problems, before?.problems);
  const denials: Saying[] = [];
  const held: string[] = [];
  const deployments = new Map<string, DeploymentRef>();
  const byGit = new Set<string>();
  const values: [Pin, string | undefined][] = [];
  for (const pin of pins) {
    const decision = decide(pin, at);
    if (decision.held) held.push(decision.held);
    if (decision.warning) warnings.push(decision.warning);
    if (decision.denial) denials.push(decision.denial);
    if (decision.deployment && !deployments.has(pin.rollout)) deployments.set(pin.rollout, decision.deployment);
    if (decision.byGit) byGit.add(pin.rollout);
    if (decision.byGit || (!decision.deployment && decision.held === undefined)) continue;
    const stronger = strongerRefs(written, pin);
    if (stronger.length > 0) held.push(`${stronger.join(' and ')} removed from spec.ref, because it overrides the tag`);
    values.push([pin, decision.value]);
  }
  if (held.length > 0) warnings.unshift(held.join('; '));
  const carried = deployments.size > 0 ? formatDeployments([...deployments.values()], byGit) : undefined;
  const marked = annotate(writePins(written, values), DEPLOYED, carried);
  const object = source === 'settled' ? marked : withArtifact(marked, oldObject, source, at.atomic);
  return { object, warnings, held: held.length > 0, denials };
}

/** With our annotations of an atomic update; without them where there is none. */
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

/** The write that suspends for a version; or that changes what may be applied, where no suspension came first. */
function mustBeSeen(object: FluxObject, oldObject: FluxObject): boolean {
  const [now, before] = [object.metadata.annotations ?? {}, oldObject.metadata.annotations ?? {}];
  if (now[AWAITS_ARTIFACT] !== undefined) return now[AWAITS_ARTIFACT] !== before[AWAITS_ARTIFACT];
  return before[ARTIFACT] !== undefined && now[ARTIFACT] !== before[ARTIFACT] && before[AWAITS_ARTIFACT] === undefined;
}

/**
 * kustomize-controller echoes it in `status.lastHandledReconcileAt`, also while it is suspended, once it has seen this write: until then it
 * may still be at work on an older version of the object, and the policy lets it begin nothing.
 */
function noticeOf({ metadata }: FluxObject): string {
  return `${NOTICE}${metadata.generation ?? 0}`;
}

/** Stays until it is echoed: another request in its place, which will be handled all the same, would end what the policy waits for. */
function unseenNotice({ metadata, status }: FluxObject): string | undefined {
  const requested = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return requested?.startsWith(NOTICE) && requested !== status?.lastHandledReconcileAt ? requested : undefined;
}

/**
 * Whether a write can be decided without the object's source: it carries what its Rollouts have deployed, its source had it
 * when that was written, and the write touches none of this.
 */
export function isSettled(object: FluxObject, oldObject: FluxObject, rollouts: ReadonlyMap<string, Rollout>): boolean {
  const deployments = deploymentsOn(oldObject);
  const { pins } = pinAnnotationsOf(oldObject);
  const isAsStored = [ARTIFACT, AWAITS_ARTIFACT, DEPLOYED].every(
    (key) => object.metadata.annotations?.[key] === oldObject.metadata.annotations?.[key],
  );
  return (
    isAsStored &&
    unseenNotice(oldObject) === undefined &&
    oldObject.metadata.annotations?.[ARTIFACT] !== undefined &&
    oldObject.metadata.annotations?.[AWAITS_ARTIFACT] === undefined &&
    sameJson(object.spec?.sourceRef, oldObject.spec?.sourceRef) &&
    sameJson(pinAnnotationsOf(object).pins, pins) &&
    pins.every(({ rollout }) => {
      const head = deploymentOf(rollouts.get(rollout));
      const carried = deployments.get(rollout);
      return head && carried && isSameVersion(head, carried);
    })
  );
}

function caseOf(write: PinWrite, pins: readonly Pin[], before: readonly Pin[]): Case {
  const { object, oldObject, rollouts, source } = write;
  const pinned = new Set(before.map(pinKey));
  const stored = oldObject ?? object;
  let writers: Writers | undefined;
  return {
    ...write,
    pins,
    atomic: source === 'settled' ? undefined : atomicUpdate(pins, rollouts, source),
    wasPinned: (pin) => pinned.has(pinKey(pin)),
    deployments: deploymentsOn(stored),
    byGit: setByGit(stored.metadata.annotations?.[DEPLOYED]),
    isApply(pin) {
      writers ??= writersOf(object, oldObject);
      return pinPath(pin)
        .reduce((at, key) => at.at(key), writers)
        .applied(readPin(object, pin));
    },
  };
}

function decide(pin: Pin, at: Case): Decision {
  const rollout = at.rollouts.get(pin.rollout);
  if (rollout ? writeBackName(rollout) : at.byGit.has(pin.rollout)) return leaveToGit(pin, at);
  const live = deploymentOf(rollout);
  if (!live) return keep(pin, at);
  if (at.atomic?.rollout !== pin.rollout) return follow(pin, live, at);
  // What the source has, or else what the object was given while it had that. A new object runs nothing yet that could be mixed.
  const target = at.atomic.fetched ?? (at.oldObject ? at.deployments.get(pin.rollout) : at.atomic.head);
  return target ? follow(pin, target, at) : stayUntilFetched(pin, live, at);
}

/** Only which deployment the value is gets noted: none where the object's fields of this Rollout differ. */
function leaveToGit(pin: Pin, at: Case): Decision {
  const value = readPin(at.object, pin);
  const own = at.pins.filter(({ rollout }) => rollout === pin.rollout);
  if (value === undefined || own.some((each) => readPin(at.object, each) !== value)) return { value, byGit: true };
  const kept = at.deployments.get(pin.rollout);
  const rollout = at.rollouts.get(pin.rollout);
  const deployment = deploymentOf(rollout) ? deploymentWith(rollout!, value) : kept && { ...kept, version: value };
  return { value, deployment, byGit: true };
}

/** The value becomes that of the deployment. */
function follow(pin: Pin, live: DeploymentRef, at: Case): Decision {
  const value = readPin(at.object, pin);
  const wasPinned = at.wasPinned(pin);
  const decision: Decision = { value: live.version, deployment: live };
  const stays = `${shortName(pin)} stays ${live.version}, deployed by Rollout ${pin.rollout}`;
  if (value === live.version) return decision;
  if (value === undefined) return wasPinned ? { ...decision, held: stays } : decision;
  // The old value: the Rollout has moved on since, and the writer did not touch the field.
  if (at.oldObject && value === readPin(at.oldObject, pin)) return decision;
  if (!wasPinned || at.isApply(pin)) return { ...decision, held: stays };
  return { ...decision, denial: denialOf(pin, live, value, at.object) };
}

/** The source is fetching the first deployment: the value stays what it was before it. */
function stayUntilFetched(pin: Pin, live: DeploymentRef, at: Case): Decision {
  const value = readPin(at.object, pin);
  const old = at.oldObject && readPin(at.oldObject, pin);
  if (value === old || !at.wasPinned(pin)) return { value };
  if (value !== undefined && !at.isApply(pin)) return { value, denial: denialOf(pin, live, value, at.object) };
  const held = `${shortName(pin)} stays ${old ?? 'unset'} until its source has fetched ${deploymentText(live)}`;
  return { value: old, held };
}

/** The Rollout is gone or has deployed nothing: what the object carries is all there is to go by. */
function keep(pin: Pin, at: Case): Decision {
  const value = readPin(at.object, pin);
  const kept = at.deployments.get(pin.rollout);
  // A backup restored: the annotation that came with the object counts if the object really carries that version.
  if (!at.oldObject) return { value, deployment: kept?.version === value ? kept : undefined };
  const old = readPin(at.oldObject, pin);
  if (!kept || value === old) return { value, deployment: kept };
  const why = at.rollouts.has(pin.rollout) ? 'has deployed nothing yet' : 'does not exist';
  if (old !== undefined && (value === undefined || at.isApply(pin))) {
    return { value: old, deployment: kept, held: `${shortName(pin)} stays ${old}: Rollout ${pin.rollout} ${why}` };
  }
  const warning = `${shortName(pin)} is now ${value} and no Rollout manages it: ${pin.rollout} ${why}`;
  // A Rollout created later adopts what the object carries, so the annotation says that and not what it was.
  return { value, deployment: { ...kept, version: value ?? kept.version }, warning };
}

/** The first deployment of each Rollout on the object. */
function deploymentsOn({ metadata }: FluxObject): Map<string, DeploymentRef> {
  const deployments = parseDeployments(metadata.annotations?.[DEPLOYED]);
  return new Map(deployments.reverse().map((deployment) => [deployment.rollout, deployment]));
}

function shortName(pin: Pin): string {
  return pin.variable ?? 'spec.ref.tag';
}

function denialOf(pin: Pin, live: DeploymentRef, value: string, { metadata }: FluxObject): Saying {
  return {
    text:
      `${pinPath(pin).join('.')} cannot be set to '${value}': Rollout '${pin.rollout}' manages it and has deployed ` +
      `'${live.version}'. To stay on another version, set spec.wantedVersion on that Rollout.`,
    commands: [['To deploy another version', deployCommand(metadata.namespace, pin.rollout, value)]],
  };
}
