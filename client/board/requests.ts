/**
 * What the page asks for, as the write that the command would make for the same: both are built by client/requests, from the object as it is.
 * Nothing is decided here; the API server and the webhook do.
 */
import { CLOSE_REASON, DEPLOY_MESSAGE, OPEN_FOR, OPEN_REASON } from '../../api/annotations.ts';
import { apiVersionOf, KINDS, type KindName } from '../../api/kinds.ts';
import type { EpochMs, KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import { refKey } from '../../core/kube/names.ts';
import { parseTime } from '../../core/kube/time.ts';
import { oneLine } from '../../core/text/oneLine.ts';
import { quoted } from '../../core/text/shell.ts';
import type { Application } from '../explain/application.ts';
import { type Freeze, freeze } from '../requests/freeze.ts';
import { approveAtGate, closeGate, openGate } from '../requests/gate.ts';
import { type Asked as Answered, isRequest, kubectlOf, named, wrong } from '../requests/request.ts';
import { rollback } from '../requests/rollback.ts';
import { bypass, deploy, passRolloutGates, pin, retry, unblock, unpin } from '../requests/rollout.ts';
import { approve, reject } from '../requests/rolloutGate.ts';

export type Asked =
  | {
      do: 'deploy' | 'pin' | 'rollback' | 'bypass' | 'pass-gates';
      rollout: NamespacedName;
      version: string;
      reason: string;
    }
  | { do: 'unpin' | 'retry' | 'unblock'; rollout: NamespacedName; reason: string }
  | { do: 'approve' | 'reject'; rolloutGate: NamespacedName; version: string; reason: string }
  | { do: 'approve-at-gate'; gate: NamespacedName; rollout: NamespacedName; version: string; reason: string }
  | { do: 'open' | 'close'; gate: NamespacedName; reason: string; version?: string; at?: string }
  | { do: 'freeze'; gate: NamespacedName; reason: string; spec: Gate['spec']; at?: string; closes: boolean };

/** The object that it is about, as it is now. */
export type Found = Rollout | RolloutGate | Gate;

export const PROGRAM = 'kubectl rollouts';

export function objectOf(asked: Asked): NamespacedName & { kind: 'Rollout' | 'RolloutGate' | 'Gate' } {
  if ('gate' in asked) return { kind: 'Gate', ...asked.gate };
  return 'rollout' in asked ? { kind: 'Rollout', ...asked.rollout } : { kind: 'RolloutGate', ...asked.rolloutGate };
}

/** `found`: undefined where there is none, which only a freeze can do without. */
export function requestOf(asked: Asked, found: Found | undefined, now: EpochMs): Answered {
  const reason = asked.reason || undefined;
  if (asked.do === 'freeze') return freeze(freezeOf(asked, now), found as Gate | undefined, now);
  const { kind, ...ref } = objectOf(asked);
  if (!found) return wrong(`There is no ${named(kind, ref)}.`);
  const [rollout, rolloutGate, gate] = [found as Rollout, found as RolloutGate, found as Gate];
  switch (asked.do) {
    case 'deploy':
      return deploy(rollout, asked.version, reason);
    case 'pin':
      return pin(rollout, asked.version, reason);
    case 'rollback':
      return rollback(rollout, undefined, { version: asked.version, stays: true, reason });
    case 'bypass':
      return reason
        ? bypass(rollout, asked.version, reason, now)
        : wrong('A bypass takes a reason, which is recorded.');
    case 'pass-gates':
      return passRolloutGates(rollout, asked.version, reason);
    case 'unpin':
      return unpin(rollout, reason);
    case 'retry':
      return retry(rollout, reason);
    case 'unblock':
      return unblock(rollout, reason);
    case 'approve':
      return approve(rolloutGate, asked.version, reason);
    case 'reject':
      return reject(rolloutGate, asked.version, reason);
    case 'approve-at-gate':
      return approveAtGate(gate, asked.version, { reason, rollout: asked.rollout }, now);
    case 'open':
      return openGate(gate, { reason, at: parseTime(asked.at), version: asked.version }, now);
    case 'close':
      return closeGate(gate, { reason, at: parseTime(asked.at) }, now);
  }
}

/** An end is a planned opening, and what is planned lasts as long as the Gate's window: as the command has it. */
function freezeOf({ gate: ref, reason, spec, at }: Extract<Asked, { do: 'freeze' }>, now: EpochMs): Freeze {
  const { selects = {}, schedule, window } = spec;
  const { kinds, namespaceSelector, labelSelector } = selects;
  const wanted: Freeze = { ref, reason: reason || undefined, kinds, namespaceSelector, labelSelector };
  if (schedule) {
    const { timezone = 'UTC', rules = [] } = schedule;
    const days = [...new Set(rules.flatMap(({ daysOfWeek = [] }) => daysOfWeek))];
    return { ...wanted, every: { days, hours: rules[0]?.timeRange, timezone } };
  }
  const [begins, lasts] = [parseTime(at), parseDuration(window)];
  if (begins !== undefined) return { ...wanted, at: begins, window: lasts };
  return { ...wanted, until: lasts === undefined ? undefined : now + lasts };
}

/** The same as a command of ours, and with kubectl alone. `found`: as far as the page knows it. */
export function equivalentOf(
  asked: Asked,
  found: Found | undefined,
  now: EpochMs,
): { command: string; kubectl: string } {
  const request = requestOf(asked, found ?? sketchOf(asked), now);
  return { command: commandOf(asked), kubectl: isRequest(request) ? kubectlOf(request) : `# ${oneLine(request.none)}` };
}

/** Of what nobody has read: what somebody said before is taken off, whether it is there or not. A Gate that is to be made is not there. */
function sketchOf(asked: Asked): Found | undefined {
  if (asked.do === 'freeze') return undefined;
  const { kind, ...ref } = objectOf(asked);
  if (kind === 'Rollout') return rolloutSketch(ref, {});
  if (kind === 'RolloutGate') return sketch(kind, ref, { rolloutRef: { name: '' }, allowedVersions: [] });
  const annotations = { [OPEN_REASON]: '', [OPEN_FOR]: '', [CLOSE_REASON]: '' };
  const spec = { default: asked.do === 'close' ? 'opened' : 'closed' };
  const approvals = asked.do === 'approve-at-gate' && { approvals: { required: 1 } };
  return sketch(kind, { ...ref, annotations }, { ...spec, ...approvals });
}

/** A Rollout of which only this is known. */
export function rolloutSketch(ref: NamespacedName, { pinned, runs }: Pick<Application, 'pinned' | 'runs'>): Rollout {
  const metadata = { ...ref, annotations: { [DEPLOY_MESSAGE]: '' } };
  const head = runs && { id: runs.id, version: { tag: runs.version }, timestamp: runs.at, bakeStatus: runs.outcome };
  const rollout = sketch('Rollout', metadata, pinned === undefined ? {} : { wantedVersion: pinned });
  return { ...rollout, status: { history: head ? [head] : [] } } as Rollout;
}

function sketch(kind: KindName, metadata: KubeObject<any, any>['metadata'], spec: unknown): Found {
  return { apiVersion: apiVersionOf(KINDS[kind]), kind, metadata, spec } as Found;
}

export function commandOf(asked: Asked): string {
  const words = [...wordsOf(asked), ...(asked.reason === '' ? [] : ['--reason', asked.reason])];
  return [PROGRAM, ...['-n', objectOf(asked).namespace, ...words].map(quoted)].join(' ');
}

function wordsOf(asked: Asked): string[] {
  switch (asked.do) {
    case 'deploy':
    case 'pin':
    case 'rollback':
    case 'bypass':
      return [asked.do, asked.rollout.name, asked.version];
    case 'pass-gates':
      return ['approve', asked.rollout.name, asked.version];
    case 'unpin':
    case 'retry':
    case 'unblock':
      return [asked.do, asked.rollout.name];
    case 'approve':
    case 'reject':
      return [asked.do, `rolloutgate/${asked.rolloutGate.name}`, asked.version];
    case 'approve-at-gate':
      return ['approve', `gate/${asked.gate.name}`, `${refKey(asked.rollout)}:${asked.version}`];
    case 'open':
    case 'close':
      return [
        asked.do,
        asked.gate.name,
        ...(asked.version ? ['--for-version', asked.version] : []),
        ...(asked.at ? ['--at', asked.at] : []),
      ];
    case 'freeze':
      return freezeWords(asked);
  }
}

function freezeWords({ gate, spec, at }: Extract<Asked, { do: 'freeze' }>): string[] {
  const { kinds = [] } = spec.selects ?? {};
  return [
    'freeze',
    gate.name,
    ...(kinds.length > 0 ? ['--kinds', kinds.join(',')] : []),
    ...(spec.window ? ['--for', spec.window] : []),
    ...(at ? ['--at', at] : []),
    ...(spec.schedule?.rules ?? []).flatMap(({ daysOfWeek = [] }) =>
      daysOfWeek.length > 0 ? ['--every', daysOfWeek.join(',')] : [],
    ),
    ...(spec.schedule?.timezone ? ['--timezone', spec.schedule.timezone] : []),
  ];
}
