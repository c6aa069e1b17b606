/** Every action, by its verb: the object that it writes, the write, the words of its command line, and its texts. */
import { GOVERNED_KINDS, type GovernedKind, type KindName } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { refKey } from '../../core/kube/names.ts';
import { withCommands } from '../../core/text/commands.ts';
import { shell } from '../../core/text/shell.ts';
import type { Right } from '../explain/application.ts';
import { type ActionRequest, type ActionType, rightOn } from './action.ts';
import { continueVersion } from './writes/budgetWrites.ts';
import { bypassObject, resumeObject } from './writes/fluxObjectWrites.ts';
import { freeze, freezeWords, spanWords } from './writes/freeze.ts';
import { approveAtGate, closeGate, createGate, isTimed, openGate, withdrawAtGate } from './writes/gateWrites.ts';
import { badRequest, existsText, objectTitle, type PlannedWrite, PROGRAM_WORD } from './writes/plannedWrite.ts';
import { rollback } from './writes/rollbackWrite.ts';
import { approve, reject, setPassing, UNTIMED, withdraw } from './writes/rolloutGateWrites.ts';
import {
  bypass,
  bypassRolloutGates,
  bypassWaiting,
  deploy,
  pin,
  retry,
  tagProblem,
  unblock,
  unpin,
  unrequire,
  unrequireBypasses,
  withdrawRequest,
} from './writes/rolloutWrites.ts';

/** Makes a text from a request. `found`: the object to write, if it could be read. */
type Text = (request: ActionRequest, found?: AnyObject) => string;

interface Definition {
  kinds: readonly KindName[];
  /** Required inputs besides the object. */
  takes?: readonly ('version' | 'gate' | 'freeze')[];
  /** Set if the write can't record a reason. */
  hasNoReason?: true;
  /** The rights of the user; absent: to patch the object. A bypass also needs rights on the Gates that are closed. */
  rights?(request: ActionRequest, found?: any): Right[];
  /** The write. `found`: an object of the requested kind. */
  write(request: ActionRequest, found: any, now: EpochMs): PlannedWrite;
  /** Words of the command after the program's name; absent: there is no such command. */
  words?(request: ActionRequest): string[];
  label: Text;
  /** Label of the button that sends the request; absent: the verb. */
  submit?: Text;
  text: Text;
  /** Set if the user has to type the version first. */
  confirm?: true;
  danger?: true;
}

const GOVERNED: readonly GovernedKind[] = GOVERNED_KINDS.map(({ kind }) => kind);
const BUDGETS = ['RolloutBudget', 'ClusterRolloutBudget'] as const;

const isOn = ({ object }: ActionRequest, kind: KindName) => object.kind === kind;
const version = ({ version: tag = '' }: ActionRequest) => tag;
const reason = ({ reason: text }: ActionRequest) => text || undefined;
const nameOf = ({ object }: ActionRequest) => `${object.kind} ${object.name}`;
/** The target of a command: `gate/year-end`, or the name of a Rollout. */
const target = ({ object: { kind, name } }: ActionRequest) =>
  kind === 'Rollout' ? name : `${kind.toLowerCase()}/${name}`;
/** A version at a Gate: `shop/checkout:1.2.0`. */
const versionAtGate = ({ rollout, version: tag = '' }: ActionRequest) => (rollout ? `${refKey(rollout)}:${tag}` : tag);
/** A version at a budget: `registry.example.com/shop/checkout:1.2.0`. */
const versionAtBudget = ({ image, version: tag = '' }: ActionRequest) => (image ? `${image}:${tag}` : tag);
const stayText: Text = (request) =>
  `Deploys ${version(request)} and stays on it: nothing newer is deployed until you unpin.`;

const versionWords = (request: ActionRequest) => [request.type, request.object.name, version(request)];
const objectWords = (request: ActionRequest) => [request.type, target(request)];

export const ACTIONS: Record<ActionType, Definition> = {
  deploy: {
    kinds: ['Rollout'],
    takes: ['version'],
    write: (request, found) => deploy(found, version(request), reason(request)),
    words: versionWords,
    label: (request) => `Deploy ${version(request)} manually`,
    submit: (request) => `Deploy ${version(request)}`,
    text: () =>
      'Deploys it at once, unless a closed Gate, a missing approval, a rejection or an unfinished copy to spec.targetRepository blocks it.',
    confirm: true,
  },
  pin: {
    kinds: ['Rollout'],
    takes: ['version'],
    write: (request, found) => pin(found, version(request), reason(request)),
    words: versionWords,
    label: (request) => `Pin ${version(request)}`,
    text: stayText,
  },
  unpin: {
    kinds: ['Rollout'],
    write: (request, found) => unpin(found, reason(request)),
    words: objectWords,
    label: (request) => `Unpin ${request.object.name}`,
    text: () => 'Resumes automation: the newest version that nothing blocks is deployed at once.',
  },
  rollback: {
    kinds: ['Rollout'],
    takes: ['version'],
    write: (request, found) =>
      rollback(found, undefined, { version: version(request), stays: true, reason: reason(request) }),
    words: versionWords,
    label: (request) => `Roll back to ${version(request)}`,
    submit: () => 'Roll back',
    text: stayText,
  },
  retry: {
    kinds: ['Rollout'],
    write: (request, found) => retry(found, reason(request), request.version),
    words: objectWords,
    label: (request) => `Retry ${version(request)}`,
    text: () => 'Starts the failed deployment again: it must be applied, become healthy and bake.',
  },
  unblock: {
    kinds: ['Rollout'],
    write: (request, found) => unblock(found, reason(request), request.version),
    words: objectWords,
    label: () => 'Unblock the next version',
    text: () => 'The failed deployment stays failed. Automation continues with the next version.',
  },
  withdraw: {
    kinds: ['Rollout', 'RolloutGate', 'Gate'],
    write: (request, found) => {
      if (isOn(request, 'Rollout')) return withdrawRequest(found, reason(request), request.version);
      if (request.version === undefined) return badRequest('Name the version whose approval you withdraw.');
      return isOn(request, 'Gate') ? withdrawAtGate(found, versionAtGate(request)) : withdraw(found, version(request));
    },
    words: (request) => [...objectWords(request), ...(isOn(request, 'Rollout') ? [] : [versionAtGate(request)])],
    label: (request) =>
      isOn(request, 'Rollout')
        ? `Withdraw the request for ${version(request)}`
        : `Withdraw your approval of ${version(request)} at ${request.object.name}`,
    text: (request) =>
      isOn(request, 'Rollout')
        ? `Cancels the request for ${version(request)}. Automation resumes.`
        : 'Your approval no longer counts. You can give it again.',
  },
  approve: {
    kinds: ['RolloutGate', 'Gate'],
    takes: ['version'],
    write: (request, found, now) =>
      isOn(request, 'Gate')
        ? approveAtGate(found, version(request), { reason: reason(request), rollout: request.rollout }, now)
        : approve(found, version(request), reason(request)),
    words: (request) => [...objectWords(request), versionAtGate(request)],
    label: (request) =>
      `Approve ${version(request)}${request.rollout ? ` of ${request.rollout.name}` : ''} at ${request.object.name}`,
    text: (request) =>
      isOn(request, 'Gate')
        ? 'Records your approval of this version. Other versions stay blocked.'
        : 'Allows this version. Other versions stay blocked.',
  },
  reject: {
    kinds: ['RolloutGate'],
    takes: ['version'],
    write: (request, found) => reject(found, version(request), reason(request)),
    words: (request) => [...objectWords(request), version(request)],
    label: (request) => `Reject ${version(request)} at ${request.object.name}`,
    text: (request) =>
      `${version(request)} won't be deployed, not even manually, until you remove it from rejectedVersions.`,
  },
  bypass: {
    kinds: ['Rollout', ...GOVERNED],
    write: (request, found, now) => {
      const why = reason(request);
      if (!why) return badRequest('A bypass needs a reason, which is recorded.');
      if (!isOn(request, 'Rollout')) return bypassObject(found, why, now);
      return request.version === undefined ? bypassWaiting(found, why, now) : bypass(found, request.version, why, now);
    },
    words: (request) => [...objectWords(request), ...(isOn(request, 'Rollout') ? [version(request)] : [])],
    label: (request) => `Bypass closed Gates for ${isOn(request, 'Rollout') ? version(request) : nameOf(request)}`,
    submit: (request) => (isOn(request, 'Rollout') ? `Deploy ${version(request)}` : 'Bypass'),
    text: (request) =>
      isOn(request, 'Rollout')
        ? `Only ${version(request)} bypasses the closed Gates, once. Your name and reason are recorded.`
        : 'It runs until one of these Gates closes again. Your name and reason are recorded.',
    confirm: true,
    danger: true,
  },
  bypassRolloutGates: {
    kinds: ['Rollout'],
    takes: ['version'],
    write: (request, found) => bypassRolloutGates(found, version(request), reason(request)),
    words: (request) => ['bypass', target(request), version(request), '--rollout-gates'],
    label: (request) => `Bypass every RolloutGate for ${version(request)}`,
    submit: () => 'Bypass',
    text: (request) =>
      `${version(request)} bypasses every RolloutGate, those of schedules too. Closed Gates and missing approvals still block it.`,
  },
  continue: {
    kinds: BUDGETS,
    takes: ['version'],
    write: (request, found) => continueVersion(found, versionAtBudget(request), reason(request)),
    words: (request) => [
      request.type,
      isOn(request, 'RolloutBudget') ? request.object.name : target(request),
      versionAtBudget(request),
    ],
    label: (request) => `Continue ${versionAtBudget(request)} despite its failures`,
    text: (request) =>
      `${nameOf(request)} stops counting the failures so far. After maxFailures new ones it stops the version again.`,
  },
  freeze: {
    kinds: ['Gate'],
    takes: ['freeze'],
    rights({ object, freeze: wanted }, existing) {
      if (existing) return [rightOn('patch', 'Gate', object)];
      const isOfOthers = wanted?.selects?.namespaceSelector !== undefined;
      // A right for the whole cluster only.
      const select = rightOn('select-namespaces', 'Gate', { namespace: '', name: '' });
      return [rightOn('create', 'Gate', object), ...(isOfOthers ? [select] : [])];
    },
    write: (request, found, now) => freeze(request.object, { ...request.freeze, reason: reason(request) }, found, now),
    words: ({ object, freeze: wanted }) => freezeWords(object.name, wanted!),
    label: (request) => `Freeze with ${nameOf(request)}`,
    text: () => 'Holds syncs and deployments of the objects that it selects.',
  },
  open: {
    kinds: ['Gate', 'RolloutGate'],
    write: (request, found, now) =>
      isOn(request, 'Gate')
        ? openGate(found, { reason: reason(request), at: request.span?.at, version: request.version }, now)
        : (openProblem(request) ?? setPassing(found, true, reason(request))),
    words: (request) => [
      ...openOrCloseWords(request),
      ...(request.version ? ['--for-version', request.version] : []),
      ...spanWords(request.span),
    ],
    label: (request) => `Open ${nameOf(request)}`,
    submit: (request) => `Open ${request.object.name}`,
    text: (request, found) => {
      if (isOn(request, 'RolloutGate')) return 'Sets spec.passing. Its lists and required approvals still count.';
      return found?.spec?.approvals
        ? 'Ends the close request. Versions still need approvals.'
        : 'Releases everything that it holds.';
    },
  },
  close: {
    kinds: ['Gate', 'RolloutGate'],
    write: (request, found, now) =>
      isOn(request, 'Gate')
        ? closeGate(found, { ...request.span, reason: reason(request) }, now)
        : isTimed(request.span)
          ? UNTIMED
          : setPassing(found, false, reason(request)),
    words: (request) => [...openOrCloseWords(request), ...spanWords(request.span)],
    label: (request) => `Close ${nameOf(request)}`,
    submit: (request) => `Close ${request.object.name}`,
    text: (request, found) => {
      if (!isOn(request, 'Gate')) return 'Blocks all automatic deployments of its Rollout.';
      const { default: standard, window } = found?.spec ?? {};
      const end = standard === 'opened' && window ? ` Its spec.window (${window}) ends the closure.` : '';
      return `Holds everything that requires it.${end}`;
    },
  },
  resume: {
    kinds: GOVERNED,
    hasNoReason: true,
    write: (_, found) => resumeObject(found),
    label: (request) => `Resume ${nameOf(request)}`,
    text: () => 'Flux reconciles it again.',
  },
  create: {
    kinds: ['Gate'],
    hasNoReason: true,
    rights: ({ object }) => [rightOn('create', 'Gate', object)],
    write: (request, found) => (found ? badRequest(existsText(request.object)) : createGate(request.object)),
    label: (request) => `Create ${nameOf(request)}, open`,
    text: () => 'A Gate that does not exist counts as closed. The new one is open.',
  },
  unrequire: {
    kinds: ['Rollout'],
    takes: ['gate'],
    rights: ({ object, gate }, found) => [
      ...(found && unrequireBypasses(found, gate!) ? [rightOn('bypass', 'Gate', gate!)] : []),
      rightOn('patch', 'Rollout', object),
    ],
    write: (request, found, now) => unrequire(found, request.gate!, reason(request), now),
    label: (request) => `Remove Gate ${request.gate?.name} from spec.gates`,
    submit: () => 'Remove',
    text: ({ gate }, found) =>
      found && unrequireBypasses(found, gate!)
        ? 'This Gate has been deleted. Removing it is a bypass: your name and reason are recorded.'
        : 'The Gate does not exist. This removes its reference from spec.gates.',
  },
};

const openOrCloseWords = (request: ActionRequest) => [
  request.type,
  isOn(request, 'Gate') ? request.object.name : target(request),
];
/** The problem of inputs that a RolloutGate can't open with; undefined without one. */
function openProblem(request: ActionRequest) {
  if (request.version === undefined && !isTimed(request.span)) return undefined;
  const { namespace, name } = request.object;
  const line = shell`${PROGRAM_WORD} approve rolloutgate/${name} ${request.version ?? '<version>'} -n ${namespace}`;
  return badRequest(
    withCommands('A RolloutGate opens at once, and not for one version.', ['To allow one version', line]),
  );
}

/** Whether the write can record a reason: a withdrawn approval and a new Gate can't. */
export function takesReason({ type, object }: ActionRequest): boolean {
  return !ACTIONS[type].hasNoReason && !(type === 'withdraw' && object.kind !== 'Rollout');
}

/** The rights for an action on the object `found`. */
export function rightsOf(request: ActionRequest, found: AnyObject | undefined): Right[] {
  const { type, object } = request;
  return ACTIONS[type].rights?.(request, found) ?? [rightOn('patch', object.kind, object)];
}

/** The write of an action. `found`: the object as it is now; absent: only an action that creates it is valid. */
export function writeOf(request: ActionRequest, found: AnyObject | undefined, now: EpochMs): PlannedWrite {
  const { type, object } = request;
  const isNew = type === 'freeze' || type === 'create';
  if (!found && !isNew) return badRequest(`There is no ${objectTitle(object.kind, object)}.`);
  const problem = versionProblem(request);
  return problem === undefined ? ACTIONS[type].write(request, found, now) : badRequest(problem);
}

/** Why the version is none; undefined if it is one, or none is given. Gates and budgets take longer texts. */
function versionProblem({ type, object, version }: ActionRequest): string | undefined {
  if (version === undefined && !ACTIONS[type].takes?.includes('version')) return undefined;
  const text = version ?? '';
  return tagProblem(/Rollout(Gate)?$/.test(object.kind) ? text : text.slice(text.lastIndexOf(':') + 1));
}
