/** What a person can do about each step: a command of ours, the same with kubectl, and the right that it takes. */
import {
  APPROVE,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BYPASS_FOR,
  BYPASS_REASON,
  CLOSE_REQUESTED_AT,
  CONTINUE,
  DEPLOY_MESSAGE,
  FORCE_DEPLOY,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
} from '../../api/annotations.ts';
import { WAITING_FOR_BUDGET } from '../../api/conditions.ts';
import { apiVersionOf, type GovernedKind, KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { neverSeen } from '../../core/evaluation/namedGates.ts';
import { versionRequests } from '../../core/evaluation/requesters.ts';
import { gateRefsOf } from '../../core/gate/refs.ts';
import { findCondition } from '../../core/kube/conditions.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { tagWord } from '../../core/kube/tag.ts';
import { type Expanded, NOW, nameWord, shell, WHY } from '../../core/text/shell.ts';
import type { ObjectRef, Remedy, Step } from './application.ts';
import { objectRef } from './objectRef.ts';

type NamedGate = NonNullable<NonNullable<Rollout['spec']>['gates']>[number];

export const PROGRAM = 'kubectl rollouts';
/** The same where a command is made. */
export const OURS: Expanded = { expanded: PROGRAM };

export function openGate(gate: ObjectRef, step?: string): Remedy {
  const { namespace, name } = inWords(gate);
  return {
    text: `open Gate ${gate.namespace}/${gate.name}, for everything that it holds`,
    command: shell`${OURS} open ${name} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate --overwrite gate/${name} ${OPEN_REQUESTED_AT}=${NOW} ${OPEN_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** For a Gate that does not exist, and so holds what names it. */
export function createGate(gate: ObjectRef, step?: string): Remedy {
  const manifest = {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: gate.kind,
    metadata: inWords(gate),
    spec: { default: 'opened' },
  };
  const { namespace } = manifest.metadata;
  const kubectl = shell`echo ${JSON.stringify(manifest)} | kubectl -n ${namespace} create -f -`;
  return {
    text: `create Gate ${gate.namespace}/${gate.name}, open`,
    command: kubectl,
    kubectl,
    ...right('create', gate),
    ...(step && { step }),
  };
}

/** The reference to a Gate that does not exist, out of `spec.gates`: of one that was there it takes a bypass. */
export function takeReferenceBack(rollout: Rollout, gate: ObjectRef, step?: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const home = rollout.metadata.namespace ?? '';
  const isOther = ({ name, namespace = home }: NamedGate) => name !== gate.name || namespace !== gate.namespace;
  const others = (rollout.spec?.gates ?? []).filter(isOther).map((each) => ({
    name: nameWord(each.name),
    ...(each.namespace && { namespace: nameWord(each.namespace) }),
  }));
  const isFree = neverSeen(rollout).has(refKey(gate));
  const patch = {
    ...(!isFree && { metadata: { annotations: { [BYPASS_REASON]: '<why>' } } }),
    spec: { gates: others.length > 0 ? others : null },
  };
  const { namespace, name } = inWords(ref);
  const kubectl = shell`kubectl -n ${namespace} patch rollout/${name} --type=merge -p ${JSON.stringify(patch)}`;
  const without = `no longer require Gate ${gate.namespace}/${gate.name}`;
  return {
    text: isFree
      ? `${without}, which has never existed`
      : `${without}, which is gone: breaks the glass, and is recorded`,
    command: kubectl,
    kubectl,
    ...(isFree ? right('patch', ref) : right('bypass', gate)),
    ...(step && { step }),
  };
}

export function closeGate(gate: ObjectRef): Remedy {
  const { namespace, name } = inWords(gate);
  return {
    text: `close Gate ${gate.namespace}/${gate.name}`,
    command: shell`${OURS} close ${name} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate --overwrite gate/${name} ${CLOSE_REQUESTED_AT}=${NOW}`,
    ...right('patch', gate),
  };
}

/** What names an object in a command. */
function inWords({ namespace, name }: NamespacedName): NamespacedName {
  return { namespace: nameWord(namespace), name: nameWord(name) };
}

/** By hand a version waits for Gates and approvals alone. */
export function deployByHand(rollout: Rollout, version: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const { namespace, name } = inWords(ref);
  return {
    text: `deploy ${version} by hand, past everything but closed Gates and approvals`,
    command: shell`${OURS} deploy ${name} ${tagWord(version)} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate --overwrite rollout/${name} ${FORCE_DEPLOY}=${tagWord(version)}`,
    ...right('patch', ref),
  };
}

function bypassGate(rollout: Rollout, version: string, gate: ObjectRef, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const { namespace, name } = inWords(ref);
  // To set what is set already names nothing.
  const names = versionRequests(rollout, version).length > 0 ? BYPASS_FOR : FORCE_DEPLOY;
  return {
    text: `let ${version} alone past closed Gate ${gate.namespace}/${gate.name}: breaks the glass, and is recorded`,
    command: shell`${OURS} bypass ${name} ${tagWord(version)} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate --overwrite rollout/${name} ${names}=${tagWord(version)} ${BYPASS_REASON}=${WHY}`,
    ...right('bypass', gate),
    step,
  };
}

export function onRollout(rollout: Rollout, verb: string, annotation: string, text: string, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const { namespace, name } = inWords(ref);
  return {
    text,
    command: shell`${OURS} ${verb} ${name} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate --overwrite rollout/${name} ${annotation}`,
    ...right('patch', ref),
    step,
  };
}

/** Back to a version, and to stay there. */
export function goBack(rollout: Rollout, version: string, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const { namespace, name } = inWords(ref);
  const patch = {
    metadata: { annotations: { [DEPLOY_MESSAGE]: '<why>' } },
    spec: { wantedVersion: tagWord(version) },
  };
  return {
    text: `go back to ${version}, and stay there`,
    command: shell`${OURS} rollback ${name} ${tagWord(version)} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} patch rollout/${name} --type=merge -p ${JSON.stringify(patch)}`,
    ...right('patch', ref),
    step,
  };
}

function unpin(rollout: Rollout, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  const { namespace, name } = inWords(ref);
  return {
    text: 'remove the pin: the newest version that is let through goes at once',
    command: shell`${OURS} unpin ${name} -n ${namespace}`,
    kubectl: shell`kubectl -n ${namespace} patch rollout/${name} --type=merge -p '{"spec":{"wantedVersion":null}}'`,
    ...right('patch', ref),
    step,
  };
}

export function openRolloutGate(gate: ObjectRef, step?: string): Remedy {
  const { namespace, name } = inWords(gate);
  return {
    text: `let every version pass RolloutGate ${gate.name}`,
    command: shell`${OURS} open rolloutgate/${name} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} patch rolloutgate/${name} --type=merge -p '{"spec":{"passing":true}}'`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** Onto the end of its list, of which a status may have only a part. */
export function approveVersion(gate: ObjectRef, version: string, step?: string): Remedy {
  const { namespace, name } = inWords(gate);
  const patch = JSON.stringify([{ op: 'add', path: '/spec/allowedVersions/-', value: tagWord(version) }]);
  return {
    text: `let ${version} pass RolloutGate ${gate.name}`,
    command: shell`${OURS} approve rolloutgate/${name} ${tagWord(version)} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} patch rolloutgate/${name} --type=json -p ${patch}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** One of the approvals that the gate asks for; who has given them already, it says itself. */
export function giveApproval(gate: ObjectRef, version: string, step?: string): Remedy {
  const { namespace, name } = inWords(gate);
  return {
    text: `approve ${version} on RolloutGate ${gate.name}`,
    command: shell`${OURS} approve rolloutgate/${name} ${tagWord(version)} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate rolloutgate/${name} ${APPROVE}=${tagWord(version)} ${APPROVE_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** One person's request opens no Gate that asks for approvals. An approval is for one Rollout. */
export function approveOnGate(rollout: NamespacedName, version: string, gate: ObjectRef, step?: string): Remedy {
  const { namespace, name } = inWords(gate);
  const wanted = `${refKey(inWords(rollout))}:${tagWord(version)}`;
  return {
    text: `approve ${version} on Gate ${gate.namespace}/${gate.name}`,
    command: shell`${OURS} approve gate/${name} ${wanted} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} annotate gate/${name} ${APPROVE_FOR}=${wanted} ${APPROVE_FOR_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** After failures: whoever says so is noted. */
export function continueVersion(budget: ObjectRef, version: string, step?: string): Remedy {
  const { namespace, name } = inWords(budget);
  const target = `${budget.kind.toLowerCase()}/${name}`;
  const scope: Expanded = { expanded: budget.namespace ? shell` -n ${namespace}` : '' };
  const tag = tagWord(version);
  return {
    text: `go on with ${version} in spite of its failures`,
    command: shell`${OURS} continue ${budget.namespace ? name : target} ${tag}${scope} --reason ${WHY}`,
    kubectl: shell`kubectl${scope} annotate --overwrite ${target} ${CONTINUE}=${tag}`,
    ...right('patch', budget),
    ...(step && { step }),
  };
}

export function bypassObject(object: ObjectRef, gate: ObjectRef): Remedy {
  const { namespace, name } = inWords(object);
  const target = `${object.kind.toLowerCase()}/${name}`;
  const patch = JSON.stringify({ metadata: { annotations: { [BYPASS_REASON]: '<why>' } }, spec: { suspend: false } });
  return {
    text: `resume ${object.kind} ${object.name} behind its closed gates: breaks the glass, and is recorded`,
    command: shell`${OURS} bypass ${target} -n ${namespace} --reason ${WHY}`,
    kubectl: shell`kubectl -n ${namespace} patch ${target} --type=merge -p ${patch}`,
    ...right('bypass', gate),
  };
}

export function resumeObject(object: ObjectRef): Remedy {
  const { namespace, name } = inWords(object);
  const target = `${object.kind.toLowerCase()}/${name}`;
  const command: Expanded = { expanded: FLUX_NAMES[object.kind as GovernedKind] ?? object.kind.toLowerCase() };
  return {
    text: `resume ${object.kind} ${object.name}`,
    command: shell`flux resume ${command} ${name} -n ${namespace}`,
    kubectl: shell`kubectl -n ${namespace} patch ${target} --type=merge -p '{"spec":{"suspend":false}}'`,
    ...right('patch', object),
  };
}

/** As the command of Flux calls them. */
const FLUX_NAMES: Record<GovernedKind, string> = {
  Kustomization: 'kustomization',
  HelmRelease: 'helmrelease',
  ImageUpdateAutomation: 'image update',
  GitRepository: 'source git',
  OCIRepository: 'source oci',
  HelmRepository: 'source helm',
  Bucket: 'source bucket',
};

/** `version`: the one that waits. */
export function remediesOf(rollout: Rollout, steps: readonly Step[], version: string | undefined): Remedy[] {
  const blocking = steps.filter(({ state }) => state === 'blocks');
  const perStep = blocking.flatMap((step) => ofStep(rollout, step, version));
  const isHeldForward =
    blocking.some(({ kind }) => HOLD_AUTOMATION.includes(kind)) && !blocking.some((step) => step.asksApproval);
  return [...perStep, ...(version !== undefined && isHeldForward ? [deployByHand(rollout, version)] : [])];
}

/** What a deployment by hand does not wait for. */
const HOLD_AUTOMATION: readonly Step['kind'][] = ['stage', 'rolloutGate', 'check', 'failure', 'budget', 'age'];

function ofStep(rollout: Rollout, step: Step, version: string | undefined): Remedy[] {
  const { id, object, asksApproval } = step;
  switch (step.kind) {
    case 'gate':
      if (!object) return [];
      if (step.missing) return [createGate(object, id), ...namedRemedy(rollout, object, id)];
      if (version === undefined) return [openGate(object, id)];
      return [
        asksApproval ? approveOnGate(identityOf(rollout), version, object, id) : openGate(object, id),
        bypassGate(rollout, version, object, id),
      ];
    case 'rolloutGate': {
      if (!object || version === undefined) return [];
      if (asksApproval) return [giveApproval(object, version, id)];
      const allowed = rollout.status?.gates?.find(({ name }) => name === object.name)?.allowedVersions;
      return [allowed ? approveVersion(object, version, id) : openRolloutGate(object, id)];
    }
    case 'budget':
      return object && version !== undefined && isHeldByFailures(rollout) ? [continueVersion(object, version, id)] : [];
    case 'pin':
      return [unpin(rollout, id)];
    default:
      return [];
  }
}

/** None where a bound object requires it, and not the Rollout. */
function namedRemedy(rollout: Rollout, gate: ObjectRef, step: string): Remedy[] {
  const isNamed = gateRefsOf(rollout).some((ref) => refKey(ref) === refKey(gate));
  return isNamed ? [takeReferenceBack(rollout, gate, step)] : [];
}

/** A budget that is closed, or has a mistake, goes on with nothing. */
function isHeldByFailures({ status }: Rollout): boolean {
  return findCondition(status?.conditions, WAITING_FOR_BUDGET)?.reason === 'VersionHeld';
}

function right(verb: string, { group, resource, namespace, name }: ObjectRef) {
  return { verb, group, resource, namespace, name };
}
