/**
 * What a person asks for, as the one write that asks for it: the same as they could make with kubectl. Nothing is decided here; the API
 * server and the webhook do.
 */
import {
  APPROVE,
  APPROVE_FOR,
  APPROVE_FOR_REASON,
  APPROVE_REASON,
  BYPASS_REASON,
  BYPASS_ROLLOUT_GATES,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  DEPLOY_MESSAGE,
  FORCE_DEPLOY,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
  RETRY,
  UNBLOCK_FAILED,
} from '../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, RolloutGate } from '../../api/types.ts';
import { refKey } from '../kube/names.ts';
import { changeCause, creating, kubectlOf, type MergePatch, patching, quoted } from '../requests/request.ts';

export type Asked =
  | { do: 'deploy' | 'pin' | 'bypass' | 'pass-gates'; rollout: NamespacedName; version: string; reason: string }
  | { do: 'unpin' | 'retry' | 'unblock'; rollout: NamespacedName; reason: string }
  | { do: 'approve' | 'reject'; rolloutGate: NamespacedName; version: string; reason: string }
  | { do: 'approve-at-gate'; gate: NamespacedName; rollout: NamespacedName; version: string; reason: string }
  | { do: 'open' | 'close'; gate: NamespacedName; reason: string; version?: string; at?: string }
  | { do: 'freeze'; gate: NamespacedName; reason: string; spec: Gate['spec']; at?: string; closes: boolean };

export interface Write {
  kind: 'Rollout' | 'RolloutGate' | 'Gate';
  ref: NamespacedName;
  /** A merge patch, or with `creates` the whole object. */
  body: MergePatch;
  creates?: true;
  /** Verb of the right that it takes beside the write itself. */
  verb: 'patch' | 'create';
  command: string;
  kubectl: string;
}

export const PROGRAM = 'kubectl rollouts';

/** `found`: the RolloutGate as it is now, whose lists an approval adds to. `at`: the time of the request, whole seconds. */
export function writeOf(asked: Asked, at: string, found?: RolloutGate): Write {
  switch (asked.do) {
    case 'deploy':
      return annotated('Rollout', asked.rollout, { [FORCE_DEPLOY]: asked.version, ...message(asked.reason) }, [
        'deploy',
        asked.rollout.name,
        asked.version,
        ...why(asked.reason),
      ]);
    case 'bypass':
      return annotated(
        'Rollout',
        asked.rollout,
        { [FORCE_DEPLOY]: asked.version, [BYPASS_REASON]: asked.reason, ...message(asked.reason) },
        ['bypass', asked.rollout.name, asked.version, ...why(asked.reason)],
      );
    case 'pass-gates':
      return annotated('Rollout', asked.rollout, { [BYPASS_ROLLOUT_GATES]: asked.version, ...cause(asked) }, [
        'approve',
        asked.rollout.name,
        asked.version,
        ...why(asked.reason),
      ]);
    case 'pin':
      return pinned(asked.rollout, asked.version, message(asked.reason), [
        'pin',
        asked.rollout.name,
        asked.version,
        ...why(asked.reason),
      ]);
    case 'unpin':
      return pinned(asked.rollout, null, cause(asked), ['unpin', asked.rollout.name, ...why(asked.reason)]);
    case 'retry':
      return annotated('Rollout', asked.rollout, { [RETRY]: '', ...cause(asked) }, [
        'retry',
        asked.rollout.name,
        ...why(asked.reason),
      ]);
    case 'unblock':
      return annotated('Rollout', asked.rollout, { [UNBLOCK_FAILED]: 'true', ...cause(asked) }, [
        'unblock',
        asked.rollout.name,
        ...why(asked.reason),
      ]);
    case 'approve':
    case 'reject':
      return judged(asked, found);
    case 'approve-at-gate':
      return approvedAtGate(asked);
    case 'open':
    case 'close':
      return gateRequest(asked, at);
    case 'freeze':
      return frozen(asked, at);
  }
}

function annotated(
  kind: Write['kind'],
  ref: NamespacedName,
  annotations: Record<string, string | null>,
  words: string[],
): Write {
  return patched(kind, ref, { metadata: { annotations } }, words);
}

function patched(kind: Write['kind'], ref: NamespacedName, body: MergePatch, words: string[]): Write {
  const kubectl = kubectlOf(patching(kind, ref, body, { text: '' }));
  return { kind, ref, body, verb: 'patch', command: commandOf(ref, words), kubectl };
}

function pinned(
  ref: NamespacedName,
  wantedVersion: string | null,
  annotations: Record<string, string | null>,
  words: string[],
): Write {
  const metadata = Object.keys(annotations).length > 0 ? { metadata: { annotations } } : {};
  return patched('Rollout', ref, { ...metadata, spec: { wantedVersion } }, words);
}

function judged(asked: Extract<Asked, { do: 'approve' | 'reject' }>, found: RolloutGate | undefined): Write {
  const { rolloutGate, version, reason } = asked;
  const words = [asked.do, `rolloutgate/${rolloutGate.name}`, version, ...why(reason)];
  if (asked.do === 'approve' && found?.spec?.approvals) {
    return annotated(
      'RolloutGate',
      rolloutGate,
      { [APPROVE]: version, ...(reason && { [APPROVE_REASON]: reason }) },
      words,
    );
  }
  const { allowedVersions = [], rejectedVersions = [], passing = true } = found?.spec ?? {};
  const without = (list: readonly string[]) => list.filter((tag) => tag !== version);
  const spec =
    asked.do === 'reject'
      ? { rejectedVersions: [...without(rejectedVersions), version] }
      : {
          allowedVersions: [...without(allowedVersions), version],
          ...(!passing && { passing: true }),
          ...(rejectedVersions.includes(version) && { rejectedVersions: without(rejectedVersions) }),
        };
  const annotations = changeCause(`${asked.do} ${version}`, reason);
  return patched('RolloutGate', rolloutGate, { ...(reason && { metadata: { annotations } }), spec }, words);
}

/** An equal tag of another application is another version. */
function approvedAtGate({ gate, rollout, version, reason }: Extract<Asked, { do: 'approve-at-gate' }>): Write {
  const wanted = `${refKey(rollout)}:${version}`;
  const annotations = { [APPROVE_FOR]: wanted, ...(reason && { [APPROVE_FOR_REASON]: reason }) };
  return annotated('Gate', gate, annotations, ['approve', `gate/${gate.name}`, wanted, ...why(reason)]);
}

function gateRequest(asked: Extract<Asked, { do: 'open' | 'close' }>, at: string): Write {
  const { gate, reason, version } = asked;
  const when = asked.at ?? at;
  const annotations: Record<string, string | null> =
    asked.do === 'open'
      ? { [OPEN_REQUESTED_AT]: when, [OPEN_REASON]: reason || null, [OPEN_FOR]: version ?? null }
      : { [CLOSE_REQUESTED_AT]: when, [CLOSE_REASON]: reason || null };
  return annotated('Gate', gate, annotations, [
    asked.do,
    gate.name,
    ...(version ? ['--for-version', version] : []),
    ...(asked.at ? ['--at', asked.at] : []),
    ...why(reason),
  ]);
}

function frozen(asked: Extract<Asked, { do: 'freeze' }>, at: string): Write {
  const { gate: ref, reason, spec, closes } = asked;
  const annotations = closes ? { [CLOSE_REQUESTED_AT]: asked.at ?? at, ...(reason && { [CLOSE_REASON]: reason }) } : {};
  const body = {
    apiVersion: apiVersionOf(KINDS.Gate),
    kind: 'Gate',
    metadata: { ...ref, ...(closes && { annotations }) },
    spec,
  };
  const { kinds = [] } = spec.selects ?? {};
  return {
    kind: 'Gate',
    ref,
    body,
    creates: true,
    verb: 'create',
    command: commandOf(ref, [
      'freeze',
      ref.name,
      ...(kinds.length > 0 ? ['--kinds', kinds.join(',')] : []),
      ...(spec.window ? ['--for', spec.window] : []),
      ...(asked.at ? ['--at', asked.at] : []),
      ...(spec.schedule?.rules ?? []).flatMap(({ daysOfWeek = [] }) =>
        daysOfWeek.length > 0 ? ['--every', daysOfWeek.join(',')] : [],
      ),
      ...(spec.schedule?.timezone ? ['--timezone', spec.schedule.timezone] : []),
      ...why(reason),
    ]),
    kubectl: kubectlOf(creating('Gate', body, { text: '' })),
  };
}

/** Somebody's older message must not be taken for the reason of this deployment. */
function message(reason: string): Record<string, string | null> {
  return { [DEPLOY_MESSAGE]: reason || null };
}

/** Of what deploys nothing itself. */
function cause(asked: Asked): Record<string, string> {
  return changeCause(asked.do, asked.reason);
}

function why(reason: string): string[] {
  return reason === '' ? [] : ['--reason', reason];
}

function commandOf({ namespace }: NamespacedName, words: string[]): string {
  return [PROGRAM, '-n', namespace, ...words.map(quoted)].join(' ');
}
