/**
 * The validating half of the rules in fluxWrite.ts: checks that no other webhook has changed what our mutating webhook
 * decided.
 * Also decides whether an object may be deleted.
 */
import { ARTIFACT, AWAITS_ARTIFACT, DEPLOYED, GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { DeploymentRef, ManagedField, Rollout } from '../../api/types.ts';
import { type ClosedGates, closedWhere, closureKeys } from '../gate/closedGates.ts';
import { sameJson } from '../kube/json.ts';
import { refKey } from '../kube/names.ts';
import { MAX_TAG_CHARACTERS } from '../kube/tag.ts';
import { parseTime } from '../kube/time.ts';
import { isSystemDeleter } from '../kube/users.ts';
import {
  deploymentOf,
  deploymentsOn,
  deploymentText,
  isSetByGit,
  parseDeployments,
  setByGit,
} from '../managedField/deployment.ts';
import { fieldKey, fieldPath, managedFieldsOf, readManagedField, strongerRefs } from '../managedField/managedFields.ts';
import { type Denial, subjectOf } from '../objectGates/gateTexts.ts';
import { escapesSelection, evaluateObjectGates } from '../objectGates/objectGates.ts';
import { awaitsArtifact, storedState, suspensionReason } from '../objectGates/objectState.ts';
import { applierOf } from '../suspension/applier.ts';
import { bypassingRollouts } from '../suspension/bypassGrant.ts';
import { shortened } from '../text/oneLine.ts';
import { type FluxWrite, isSuspendingWrite } from './fluxWrite.ts';
import { FewPaths, governedChanges } from './governedChanges.ts';

/** The denial of a write that another webhook has changed; undefined if none has. */
export function verifyWrite(write: FluxWrite): Denial | undefined {
  const { object, old, oldGates, closed, rollouts, now } = write;
  const bypassing = bypassingRollouts(old, oldGates?.heldBy ?? [], write);
  const changed = verifySuspended(object) ?? verifyState(write) ?? verifyBehindClosedGate(write, bypassing);
  if (changed) return changed;
  // Behind a closed Gate a managed field keeps its value, even if its Rollout has deployed another, unless that
  // deployment bypasses the Gate.
  const problems = verifyManagedFields(object, old, closed ? bypassing : rollouts, now);
  if (problems.length === 0) return undefined;
  const text = `${subjectOf(object)}: ${problems.map((each) => each.text).join('. ')}.`;
  return { reason: 'overwritten', text, todo: { text: [...new Set(problems.map(({ todo }) => todo))].join(' ') } };
}

function verifySuspended(object: FluxObject): Denial | undefined {
  const state = storedState(object)?.is;
  // With a bypass, a user may let the object run before its source has fetched the version.
  const mustBeSuspended = state === 'closed' || state === 'opening' || (awaitsArtifact(object) && state !== 'bypassed');
  if (!mustBeSuspended || object.spec?.suspend === true) return undefined;
  return { reason: 'overwritten', text: `${changedText(object, 'spec.suspend')}.`, todo: { text: exclude('object') } };
}

/**
 * Our mutating webhook writes the state of each object that names a Gate, and the API server calls it once. If an
 * object has none, or is open although it names a closed Gate that the stored one didn't, another webhook has removed
 * the state, or has named the Gate later.
 */
function verifyState(write: FluxWrite): Denial | undefined {
  const { object, old } = write;
  const isStateless = object.metadata.annotations?.[GATE_STATE] === undefined;
  if (object.metadata.deletionTimestamp || !(isStateless || storedState(object)?.is === 'open')) return undefined;
  const seen = new Set(old && !isStateless ? closureKeys(write.closed) : []);
  const closed = closedWhere(evaluateObjectGates(object, write).closed, (closure) => !seen.has(closure));
  if (!closed) return undefined;
  const cause = 'made it require a closed Gate too late';
  const text = isStateless
    ? `lacks the annotation ${GATE_STATE}: another mutating webhook removed it, or ${cause}`
    : `would run: the Gate closed during this write, or another mutating webhook ${cause}`;
  return { reason: 'overwritten', text: `${subjectOf(object)} ${text}`, closed, todo: { text: CALL_BEFORE } };
}

/** The API server calls webhooks in the order of the names of their configurations. */
const CALL_BEFORE =
  "Rename that webhook's configuration, so that its name is alphabetically before 'rollout-hooks': it is then called first.";

function verifyBehindClosedGate(write: FluxWrite, bypassing: ReadonlyMap<string, Rollout>): Denial | undefined {
  const { object, old, user, bypass, closed } = write;
  const state = storedState(object)?.is;
  // In any other state the Gate has closed between the two calls of this request, and the write counts as earlier.
  if (state !== 'closed' && state !== 'bypassed' && state !== 'bypassing') return undefined;
  if (!old || isSystemDeleter(user) || bypass?.granted || !closed) return undefined;
  const bypassed = managedFieldsOf(old).fields.filter((field) => state === 'bypassing' || bypassing.has(field.rollout));
  const paths = bypassed.flatMap((field) => [
    fieldPath(field).join('.'),
    ...strongerRefs(old, field).map((ref) => `spec.ref.${ref}`),
  ]);
  const ours = new Set(['spec.suspend', ...paths]);
  const suspends = isSuspendingWrite(write);
  const foreign = new FewPaths();
  governedChanges(object, old, ({ path }) => {
    if (!ours.has(path.join('.')) && !(suspends && path[0] === 'spec')) foreign.add(path);
  });
  if (escapesSelection(object, old, write)) foreign.add(['metadata', 'labels']);
  if (foreign.count === 0) return undefined;
  return { reason: 'overwritten', text: changedText(object, foreign.text), closed, todo: { text: exclude('object') } };
}

function changedText(object: FluxObject, paths: string): string {
  return `${subjectOf(object)} is held, and another mutating webhook changed ${paths}`;
}

const exclude = (what: string) => `Exclude this ${what} from that webhook.`;

// Managed fields (docs/reference/writes.md, W8).

/**
 * Whether a decorator's write can be verified without its Rollouts. Our mutating webhook is called for each such write
 * and has set the fields together with the annotation, so another webhook has changed no field that still agrees with
 * it. A bypass is verified with its Rollouts.
 */
export function agreesWithDeployed(object: FluxObject): boolean {
  const state = storedState(object)?.is;
  const deployments = deploymentsOn(object);
  const agrees = (field: ManagedField) => {
    const deployed = deployments.get(field.rollout);
    return deployed !== undefined && readManagedField(object, field) === deployed.version;
  };
  return (state === undefined || state === 'open') && managedFieldsOf(object).fields.every(agrees);
}

/**
 * The problem of each managed field whose value another webhook has set, and what to do. A value is ours if it is what
 * the Rollout has deployed; if it is as stored, and so is the carried deployment; or by this table, in which a Rollout
 * has deployed nothing yet if its first deployment may be newer than the call of our mutating webhook:
 *
 * | the object carries | the Rollout has deployed | the value is ours |
 * |---|---|---|
 * | a deployment | nothing, or this one | if it is its version |
 * | none | nothing | always |
 * | none, nor did it before | one that the object's source has yet to fetch | always |
 */
function verifyManagedFields(
  object: FluxObject,
  old: FluxObject | undefined,
  rollouts: ReadonlyMap<string, Rollout>,
  now: EpochMs,
): { text: string; todo: string }[] {
  const [deployments, stored] = [object, old].map((each) => each && deploymentsOn(each));
  const byGit = setByGit(object.metadata.annotations?.[DEPLOYED]);
  const followsSource = object.metadata.annotations?.[ARTIFACT] !== undefined;
  const oldKeys = new Set(old ? managedFieldsOf(old).fields.map(fieldKey) : []);
  return managedFieldsOf(object).fields.flatMap((field) => {
    const rollout = rollouts.get(field.rollout);
    const value = readManagedField(object, field);
    const head = deploymentOf(rollout);
    const carried = deployments?.get(field.rollout);
    const before = stored?.get(field.rollout);
    if (isSetByGit(rollout) || byGit.has(field.rollout) || value === head?.version) return [];
    const wasManaged = old !== undefined && oldKeys.has(fieldKey(field));
    if (wasManaged && value === readManagedField(old, field) && sameJson(carried, before)) return [];
    const hasDeployed = head !== undefined && !isFirstSince(rollout, now - BETWEEN_CALLS_MS);
    const isOurs = carried
      ? value === carried.version && (!hasDeployed || isOneOf(rollout, carried))
      : !hasDeployed || (followsSource && old !== undefined && before === undefined);
    if (isOurs) return [];
    const [path, by] = [fieldPath(field).join('.'), `Rollout '${field.rollout}'`];
    // Our mutating webhook writes the deployment into the annotation of each object that it sees bound.
    if (!carried && !wasManaged)
      return { text: `another mutating webhook bound ${path} to ${by} too late`, todo: CALL_BEFORE };
    const change = value === undefined ? `removed ${path}` : `set ${path} to '${shortened(value, MAX_TAG_CHARACTERS)}'`;
    const text = `another mutating webhook ${change}; ${by} has deployed '${(head ?? carried)?.version}'`;
    return { text, todo: exclude('field') };
  });
}

/** The longest time between the mutating and the validating call of one request. */
const BETWEEN_CALLS_MS = 10_000;

/** Whether the Rollout has deployed nothing before this time. */
function isFirstSince(rollout: Rollout | undefined, at: EpochMs): boolean {
  const [head, ...earlier] = rollout?.status?.history ?? [];
  return earlier.length === 0 && (parseTime(head?.timestamp) ?? 0) > at;
}

/** Whether this is a deployment of the Rollout, or older than its history: the source may have failed for long. */
function isOneOf(rollout: Rollout | undefined, { id, uid, version }: DeploymentRef): boolean {
  const history = rollout?.status?.history ?? [];
  const entry = history.find((each) => each.id === id);
  return rollout?.metadata.uid === uid && (entry ? entry.version?.tag === version : id < (history[0]?.id ?? 0));
}

// Deletion (docs/reference/writes.md).

/**
 * The denial of a deletion; undefined if the object may be deleted. The caller allows users who may bypass the Gates.
 * @param closed includes the closed Gates of its Rollouts, which the object could evade by being deleted and created
 * again
 */
export function deletionDenial(old: FluxObject, closed: ClosedGates | undefined): Denial | undefined {
  const subject = subjectOf(old);
  if (closed) return { reason: 'gate_closed', text: `${subject} cannot be deleted`, closed };
  const reason = suspensionReason(old);
  if (!reason) return undefined;
  if (reason === 'artifact') {
    const fetching = parseDeployments(old.metadata.annotations?.[AWAITS_ARTIFACT]).map(deploymentText).join(', ');
    return {
      reason: 'managed_field',
      text:
        `${subject} cannot be deleted yet: it is suspended until its source has fetched ${fetching}. Flux ` +
        'leaves the workloads of a suspended object behind. To delete it now, suspend its source: the Kustomization is ' +
        'then resumed with its present version.',
    };
  }
  const applier = applierOf(old);
  const end = applier ? ` when Kustomization '${refKey(applier)}' has applied everything again` : ' within seconds';
  return {
    reason: 'gate_closed',
    text:
      `${subject} cannot be deleted yet: its Gates are open, but it is still suspended. Flux leaves the ` +
      `workloads of a suspended object behind. It is resumed automatically${end}; to resume it now, set spec.suspend to false.`,
  };
}
