/** What a person may want to do about an application or a Gate: each with the rights that it takes and the request that it makes. */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { RolloutGate } from '../../api/types.ts';
import { refKey } from '../../core/kube/names.ts';
import type { Application, DeploymentView, Step } from '../explain/application.ts';
import type { GateView } from './bands.ts';
import type { ApprovalView } from './messages.ts';
import { type Asked, type Found, objectOf, rolloutSketch } from './requests.ts';

/** For a SelfSubjectAccessReview. */
export interface ActionRight {
  verb: string;
  group: string;
  resource: string;
  namespace: string;
  name: string;
}

export interface Action {
  id: string;
  /** Of the button. */
  label: string;
  /** Of the button that sends it. */
  submit: string;
  /** What comes of it, in a sentence. */
  text: string;
  /** Without the reason. */
  asked: Asked;
  rights: ActionRight[];
  /** The object as far as the page knows it. */
  found?: Found;
  /** What has to be typed, because it is hard to take back. */
  confirm?: string;
  /** The likely one. */
  primary?: true;
  /** It goes past something that somebody closed. */
  danger?: true;
}

export function rightKey({ verb, resource, namespace, name }: ActionRight): string {
  return `${verb} ${resource} ${refKey({ namespace, name })}`;
}

/** `rolloutGates`: those of the application, by name, as far as they are known. */
export function actionsOf(
  application: Application,
  rolloutGates: Readonly<Record<string, RolloutGate>> = {},
): Action[] {
  const { steps, waiting, runs, pinned, failure } = application;
  const ref = { namespace: application.namespace, name: application.name };
  const blocking = steps.filter(({ state }) => state === 'blocks');
  const onRollout = [rightOn('patch', 'Rollout', ref)];
  const actions: Action[] = [];
  if (waiting) actions.push(...waitingActions(ref, waiting.version, blocking, rolloutGates));
  for (const { object, asksApproval } of blocking.filter(({ kind, missing }) => kind === 'gate' && !missing)) {
    if (object && asksApproval && waiting) actions.push(approveAtGate(object, ref, waiting.version));
    else if (object) actions.push(openAction(object, waiting?.version));
  }
  if (pinned) {
    actions.push({
      id: 'unpin',
      label: 'Remove the pin',
      submit: 'Remove the pin',
      text: 'Automation goes on: the newest version that everything lets through is deployed at once.',
      asked: { do: 'unpin', rollout: ref, reason: '' },
      rights: onRollout,
    });
  }
  if (runs?.outcome === 'Failed') {
    actions.push({
      id: 'retry',
      label: `Try ${runs.version} again`,
      submit: 'Try again',
      text: `${runs.version} bakes once more, from its arrival.`,
      asked: { do: 'retry', rollout: ref, reason: '' },
      rights: onRollout,
    });
  }
  if (failure?.wayBack !== undefined) {
    actions.push({
      id: 'rollback',
      label: `Roll back to ${failure.wayBack}`,
      submit: 'Roll back',
      text: `${failure.wayBack} is deployed, and stays: nothing newer is deployed until the pin is removed.`,
      asked: { do: 'rollback', rollout: ref, version: failure.wayBack, reason: '' },
      rights: onRollout,
    });
  }
  if (failure?.unblocks) {
    actions.push({
      id: 'unblock',
      label: 'Let the next version through',
      submit: 'Let through',
      text: `${runs?.version ?? 'The version'} has failed and stays so; automation goes on with the next one.`,
      asked: { do: 'unblock', rollout: ref, reason: '' },
      rights: onRollout,
    });
  }
  const found = rolloutSketch(ref, application);
  return actions.map((action) => (objectOf(action.asked).kind === 'Rollout' ? { ...action, found } : action));
}

function waitingActions(
  ref: NamespacedName,
  version: string,
  blocking: readonly Step[],
  gatesOfRollout: Readonly<Record<string, RolloutGate>>,
): Action[] {
  const onRollout = [rightOn('patch', 'Rollout', ref)];
  const gates = blocking.filter(({ kind, object }) => kind === 'gate' && object).map(({ object }) => object!);
  const own = blocking.filter(({ kind, object }) => kind === 'rolloutGate' && object);
  const rejections = own.map(
    ({ object }, index): Action => ({
      id: `reject/${object!.name}`,
      label: index === 0 ? `Reject ${version}` : `Reject ${version} at ${object!.name}`,
      submit: 'Reject',
      text: `RolloutGate ${object!.name} lists ${version} as rejected: it is not deployed, by hand neither, while it stands there.`,
      asked: { do: 'reject', rolloutGate: { namespace: object!.namespace, name: object!.name }, version, reason: '' },
      ...(gatesOfRollout[object!.name] && { found: gatesOfRollout[object!.name]! }),
      rights: [rightOn('patch', 'RolloutGate', object!)],
    }),
  );
  const approvals = own.map(
    ({ object, asksApproval }, index): Action => ({
      id: `approve/${object!.name}`,
      label: index === 0 ? `Approve ${version}` : `Approve ${version} at ${object!.name}`,
      submit: 'Approve',
      text: asksApproval
        ? `Your approval of ${version} at RolloutGate ${object!.name}, which lets it through once it has enough.`
        : `RolloutGate ${object!.name} lets ${version} through, and holds what it held before.`,
      asked: {
        do: 'approve',
        rolloutGate: { namespace: object!.namespace, name: object!.name },
        version,
        reason: '',
      },
      ...(gatesOfRollout[object!.name] && { found: gatesOfRollout[object!.name]! }),
      rights: [rightOn('patch', 'RolloutGate', object!)],
      ...(gates.length === 0 && index === 0 && { primary: true }),
    }),
  );
  const heldForward =
    blocking.some(({ kind }) => ['rolloutGate', 'stage', 'budget', 'check', 'failure'].includes(kind)) &&
    !blocking.some(({ asksApproval }) => asksApproval);
  const bypass: Action[] =
    gates.length > 0
      ? [
          {
            id: 'bypass',
            label: 'Past the freeze',
            submit: `Deploy ${version}`,
            text: `${version} alone is deployed past ${gates.map((gate) => `Gate ${refKey(gate)}`).join(', ')}. Who did it and why is recorded.`,
            asked: { do: 'bypass', rollout: ref, version, reason: '' },
            rights: [...onRollout, ...gates.map((gate) => rightOn('bypass', 'Gate', gate))],
            confirm: version,
            danger: true,
          },
        ]
      : [];
  const byHand: Action[] =
    heldForward && gates.length === 0
      ? [
          {
            id: 'deploy',
            label: `Deploy ${version} now`,
            submit: `Deploy ${version}`,
            text: `${version} is deployed by hand: only closed Gates and rejected versions hold that.`,
            asked: { do: 'deploy', rollout: ref, version, reason: '' },
            rights: onRollout,
            confirm: version,
          },
        ]
      : [];
  return [...approvals, ...byHand, ...rejections, ...bypass];
}

function openAction(gate: NamespacedName, version: string | undefined): Action {
  const then = version === undefined ? '' : ` ${version} goes on its way with them.`;
  return {
    id: `open/${refKey(gate)}`,
    label: `Open ${gate.name}`,
    submit: `Open ${gate.name}`,
    text: `Gate ${refKey(gate)} opens for everything that it holds.${then}`,
    asked: { do: 'open', gate: { namespace: gate.namespace, name: gate.name }, reason: '' },
    rights: [rightOn('patch', 'Gate', gate)],
  };
}

/** One of the approvals that the version needs there. */
function approveAtGate(gate: NamespacedName, rollout: NamespacedName, version: string): Action {
  const at = { namespace: gate.namespace, name: gate.name };
  return {
    id: `approve/${refKey(at)}/${refKey(rollout)}`,
    label: `Approve ${version} of ${rollout.name} at ${gate.name}`,
    submit: 'Approve',
    text: `Your approval of ${version} of Rollout ${refKey(rollout)} at Gate ${refKey(at)}, which lets it through once it has enough. Nothing else passes.`,
    asked: { do: 'approve-at-gate', gate: at, rollout, version, reason: '' },
    rights: [rightOn('patch', 'Gate', at)],
    primary: true,
  };
}

function refOf(id: string): NamespacedName {
  const [namespace = '', name = ''] = id.split('/');
  return { namespace, name };
}

/** Of a deployment in the history, or of any release: go there, or stay there. */
export function versionActions(ref: NamespacedName, version: string, runs: DeploymentView | undefined): Action[] {
  const rights = [rightOn('patch', 'Rollout', ref)];
  const isRunning = runs?.version === version;
  const deploy: Action = {
    id: `deploy/${version}`,
    label: `Deploy ${version}`,
    submit: 'Deploy',
    text: `${version} is deployed by hand. Newer versions are candidates again after it: pin it to stay.`,
    asked: { do: 'deploy', rollout: ref, version, reason: '' },
    rights,
    confirm: version,
  };
  const pin: Action = {
    id: `pin/${version}`,
    label: `Pin ${version}`,
    submit: 'Pin',
    text: isRunning
      ? `Stays on ${version}: nothing newer is deployed until the pin is removed.`
      : `${version} is deployed, and stays: nothing newer is deployed until the pin is removed.`,
    asked: { do: 'pin', rollout: ref, version, reason: '' },
    rights,
  };
  return isRunning ? [pin] : [deploy, pin];
}

/** `approvals`: those of a Gate that asks for them. */
export function gateActions(
  { namespace, name, opened, approvals: rule }: Pick<GateView, 'namespace' | 'name' | 'opened' | 'approvals'>,
  approvals: readonly ApprovalView[] = [],
): Action[] {
  const gate = { namespace, name };
  const rights = [rightOn('patch', 'Gate', gate)];
  const open: Action = { ...openAction(gate, undefined), id: 'open', label: 'Open' };
  const close: Action = {
    id: 'close',
    label: 'Close',
    submit: `Close ${name}`,
    text: `Gate ${refKey(gate)} closes for everything that requires it.`,
    asked: { do: 'close', gate, reason: '' },
    rights,
  };
  if (opened) return [close];
  const lacking = approvals.filter(({ waits, enough }) => waits && !enough);
  const approve = lacking.map(({ rollout, version }) => approveAtGate(gate, refOf(rollout), version));
  return [...approve, ...(rule?.isEndable === false ? [] : [{ ...open, ...(!rule && { primary: true as const }) }])];
}

function rightOn(verb: string, kind: KindName, { namespace, name }: NamespacedName): ActionRight {
  const { group, resource } = KINDS[kind];
  return { verb, group, resource, namespace, name };
}
