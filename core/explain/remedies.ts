/** What a person can do about each step: a command of ours, the same with kubectl, and the right that it takes. */
import {
  APPROVE,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BYPASS_REASON,
  CLOSE_REQUESTED_AT,
  CONTINUE,
  FORCE_DEPLOY,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
  RETRY,
  UNBLOCK_FAILED,
} from '../../api/annotations.ts';
import { WAITING_FOR_BUDGET } from '../../api/conditions.ts';
import type { GovernedKind } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { isLegalTag } from '../kube/tag.ts';
import type { ObjectRef, Remedy, Step } from './application.ts';
import { objectRef } from './objectRef.ts';

export const PROGRAM = 'kubectl rollouts';
const NOW = '"$(date -u +%Y-%m-%dT%H:%M:%SZ)"';
const WHY = '"<why>"';

/** A placeholder for what is no version: nobody should paste it into a shell. */
function shown(version: string | undefined): string {
  return version !== undefined && isLegalTag(version) ? version : '<version>';
}

export function openGate(gate: ObjectRef, step?: string): Remedy {
  return {
    text: `open Gate ${gate.namespace}/${gate.name}, for everything that it holds`,
    command: `${PROGRAM} open ${gate.name} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} annotate --overwrite gate/${gate.name} ${OPEN_REQUESTED_AT}=${NOW} ${OPEN_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

export function closeGate(gate: ObjectRef): Remedy {
  return {
    text: `close Gate ${gate.namespace}/${gate.name}`,
    command: `${PROGRAM} close ${gate.name} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} annotate --overwrite gate/${gate.name} ${CLOSE_REQUESTED_AT}=${NOW}`,
    ...right('patch', gate),
  };
}

/** By hand a version waits for Gates and approvals alone. */
export function deployByHand(rollout: Rollout, version: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  return {
    text: `deploy ${version} by hand, past everything but closed Gates and approvals`,
    command: `${PROGRAM} deploy ${ref.name} ${shown(version)} -n ${ref.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${ref.namespace} annotate --overwrite rollout/${ref.name} ${FORCE_DEPLOY}=${shown(version)}`,
    ...right('patch', ref),
  };
}

function bypassGate(rollout: Rollout, version: string, gate: ObjectRef, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  return {
    text: `let ${version} alone past closed Gate ${gate.namespace}/${gate.name}: breaks the glass, and is recorded`,
    command: `${PROGRAM} bypass ${ref.name} ${shown(version)} -n ${ref.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${ref.namespace} annotate --overwrite rollout/${ref.name} ${FORCE_DEPLOY}=${shown(version)} ${BYPASS_REASON}=${WHY}`,
    ...right('bypass', gate),
    step,
  };
}

function onRollout(rollout: Rollout, verb: string, annotation: string, text: string, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  return {
    text,
    command: `${PROGRAM} ${verb} ${ref.name} -n ${ref.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${ref.namespace} annotate --overwrite rollout/${ref.name} ${annotation}`,
    ...right('patch', ref),
    step,
  };
}

function unpin(rollout: Rollout, step: string): Remedy {
  const ref = objectRef('Rollout', identityOf(rollout));
  return {
    text: 'remove the pin: the newest version that is let through goes at once',
    command: `${PROGRAM} unpin ${ref.name} -n ${ref.namespace}`,
    kubectl: `kubectl -n ${ref.namespace} patch rollout/${ref.name} --type=merge -p '{"spec":{"wantedVersion":null}}'`,
    ...right('patch', ref),
    step,
  };
}

export function openRolloutGate(gate: ObjectRef, step?: string): Remedy {
  return {
    text: `let every version pass RolloutGate ${gate.name}`,
    command: `${PROGRAM} open rolloutgate/${gate.name} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} patch rolloutgate/${gate.name} --type=merge -p '{"spec":{"passing":true}}'`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** Onto the end of its list, of which a status may have only a part. */
export function approveVersion(gate: ObjectRef, version: string, step?: string): Remedy {
  const patch = JSON.stringify([{ op: 'add', path: '/spec/allowedVersions/-', value: shown(version) }]);
  return {
    text: `let ${version} pass RolloutGate ${gate.name}`,
    command: `${PROGRAM} approve rolloutgate/${gate.name} ${shown(version)} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} patch rolloutgate/${gate.name} --type=json -p '${patch}'`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** One of the approvals that the gate asks for; who has given them already, it says itself. */
export function giveApproval(gate: ObjectRef, version: string, step?: string): Remedy {
  return {
    text: `approve ${version} on RolloutGate ${gate.name}`,
    command: `${PROGRAM} approve rolloutgate/${gate.name} ${shown(version)} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} annotate rolloutgate/${gate.name} ${APPROVE}=${shown(version)} ${APPROVE_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** One person's request opens no Gate that asks for approvals. An approval is for one Rollout. */
export function approveOnGate(rollout: NamespacedName, version: string, gate: ObjectRef, step?: string): Remedy {
  const wanted = `${refKey(rollout)}:${shown(version)}`;
  return {
    text: `approve ${version} on Gate ${gate.namespace}/${gate.name}`,
    command: `${PROGRAM} approve gate/${gate.name} ${wanted} -n ${gate.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${gate.namespace} annotate gate/${gate.name} ${APPROVE_FOR}=${wanted} ${APPROVE_FOR_REASON}=${WHY}`,
    ...right('patch', gate),
    ...(step && { step }),
  };
}

/** After failures: whoever says so is noted. */
export function continueVersion(budget: ObjectRef, version: string, step?: string): Remedy {
  const target = `${budget.kind.toLowerCase()}/${budget.name}`;
  const scope = budget.namespace ? ` -n ${budget.namespace}` : '';
  const tag = shown(version);
  return {
    text: `go on with ${version} in spite of its failures`,
    command: `${PROGRAM} continue ${budget.namespace ? budget.name : target} ${tag}${scope} --reason ${WHY}`,
    kubectl: `kubectl${scope} annotate --overwrite ${target} ${CONTINUE}=${tag}`,
    ...right('patch', budget),
    ...(step && { step }),
  };
}

export function bypassObject(object: ObjectRef, gate: ObjectRef): Remedy {
  const target = `${object.kind.toLowerCase()}/${object.name}`;
  const patch = JSON.stringify({ metadata: { annotations: { [BYPASS_REASON]: '<why>' } }, spec: { suspend: false } });
  return {
    text: `resume ${object.kind} ${object.name} behind its closed gates: breaks the glass, and is recorded`,
    command: `${PROGRAM} bypass ${target} -n ${object.namespace} --reason ${WHY}`,
    kubectl: `kubectl -n ${object.namespace} patch ${target} --type=merge -p '${patch}'`,
    ...right('bypass', gate),
  };
}

export function resumeObject(object: ObjectRef): Remedy {
  const target = `${object.kind.toLowerCase()}/${object.name}`;
  return {
    text: `resume ${object.kind} ${object.name}`,
    command: `flux resume ${FLUX_NAMES[object.kind as GovernedKind] ?? object.kind.toLowerCase()} ${object.name} -n ${object.namespace}`,
    kubectl: `kubectl -n ${object.namespace} patch ${target} --type=merge -p '{"spec":{"suspend":false}}'`,
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
    case 'failure':
      return [
        onRollout(rollout, 'retry', `${RETRY}=`, 'try the failed version again', id),
        onRollout(rollout, 'unblock', `${UNBLOCK_FAILED}=true`, 'let the next version through', id),
      ];
    default:
      return [];
  }
}

/** A budget that is closed, or has a mistake, goes on with nothing. */
function isHeldByFailures({ status }: Rollout): boolean {
  return findCondition(status?.conditions, WAITING_FOR_BUDGET)?.reason === 'VersionHeld';
}

function right(verb: string, { group, resource, namespace, name }: ObjectRef) {
  return { verb, group, resource, namespace, name };
}
