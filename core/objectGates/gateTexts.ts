/** Texts about closed Gates in denials, warnings and conditions. */
import { BYPASS_REASON, OPEN_REQUESTED_AT } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS } from '../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import type { DenialReason } from '../../api/metrics.ts';
import type { ManagedField } from '../../api/types.ts';
import type { Bypass } from '../gate/bypassReason.ts';
import { type ClosedGates, closedText, gateKeys, LIMIT_TEXTS, mapClosed } from '../gate/closedGates.ts';
import { isMissing, type ReadableGates, redactFor } from '../gate/evaluateGates.ts';
import { refKey } from '../kube/names.ts';
import { deployVersionCommand } from '../managedField/deployment.ts';
import { fieldPath } from '../managedField/managedFields.ts';
import type { CommandLine, TextWithCommands } from '../text/commands.ts';
import { MAX_LISTED } from '../text/firstFew.ts';
import { NOW, nameWord, shell } from '../text/shell.ts';

/** The first closed Gates with their causes, how many more there are, and the commands that open them. */
function closedGatesText({ gates: all, limit }: ClosedGates): TextWithCommands {
  const gates = all.slice(0, MAX_LISTED);
  const more = all.length > gates.length ? `; and ${all.length - gates.length} more Gates are closed` : '';
  const commands = gates.flatMap((gate) => {
    if (isMissing(gate)) return [createGateCommand(gate.ref)];
    return gate.opensByApprovalsOnly ? [] : [openGateCommand(gate.ref)];
  });
  return { text: `${closedText({ gates, limit })}${more}.`, commands };
}

/** The command that creates a missing Gate, open. */
function createGateCommand({ namespace, name }: NamespacedName): CommandLine {
  const metadata = { namespace: nameWord(namespace), name: nameWord(name) };
  const gate = { apiVersion: GATES.apiVersion, kind: KINDS.Gate.kind, metadata, spec: { default: 'opened' } };
  const line = shell`echo ${JSON.stringify(gate)} | kubectl create -f -`;
  return [`To create Gate ${metadata.namespace}/${metadata.name}, open`, line];
}

/** The command that opens a Gate now. */
export function openGateCommand({ namespace, name }: NamespacedName): CommandLine {
  const line = shell`kubectl -n ${nameWord(namespace)} annotate --overwrite gate/${nameWord(name)} ${OPEN_REQUESTED_AT}=${NOW}`;
  return [`To open Gate ${nameWord(namespace)}/${nameWord(name)}`, line];
}

/** The RFC's sentences about closed Gates. */
export function closedSentences(closed: ClosedGates): string[] {
  return mapClosed(
    closed,
    (limit) => `Reconciliation is waiting approval: ${limit}.`,
    ({ key }) => `Reconciliation is waiting approval, gate '${key}' is closed.`,
  );
}

/** The condition's sentences about closed Gates that are bypassed. */
export function bypassedSentences(closed: ClosedGates): string[] {
  return mapClosed(
    closed,
    (limit) => `Reconciliation continues by a bypass, although ${limit}.`,
    ({ key }) => `Reconciliation continues although gate '${key}' is closed: it was bypassed.`,
  );
}

/** The Warning about a reverted write, the most important words first: Warnings are cut at 120 characters. */
export function revertWarning(closed: ClosedGates): string {
  return `not applied: ${areClosed(closed)}. Apply again after it opens; Git syncs retry automatically`;
}

/** `Gate 'shop/freeze' is closed`, or `Gate 'shop/freeze' and 2 more are closed`; beyond a limit, its message. */
export function areClosed({ gates, limit }: ClosedGates): string {
  if (limit) return LIMIT_TEXTS[limit];
  const [first, ...others] = gates.map(({ key }) => key);
  return `Gate '${first}'${others.length > 0 ? ` and ${others.length} more are` : ' is'} closed`;
}

/** `Kustomization 'shop/web'`. A new object with `generateName` has no name yet. */
export function subjectOf({ kind, metadata: { namespace = '', name = '(new)' } }: AnyObject): string {
  return `${kind} '${refKey({ namespace, name })}'`;
}

/** The Warning for a user who lets a version of a Rollout bypass closed Gates. */
export function bypassWarning(version: string, { gates, limit }: ClosedGates): string {
  const those = gates.length > 1 ? `${gates.length} closed Gates` : `the closed Gate '${gates[0]?.key}'`;
  return `version ${version} may bypass ${limit ? 'all closed Gates' : those}, for one deployment`;
}

/** The write in which to set a new reason: a DELETE or a write of the status can't carry one. */
const BYPASS_WHEN = {
  write: ' in the same write',
  delete: ', then delete within five minutes',
  status: ', then write the status within five minutes',
};

/** How to bypass closed Gates, or why the bypass was denied. */
export function bypassText(bypass: Bypass | undefined, when: keyof typeof BYPASS_WHEN, closed: ClosedGates): string {
  if (bypass && !bypass.granted) return `Bypass denied: ${bypass.why}.`;
  const isOne = gateKeys(closed).length === 1;
  const those = isOne ? 'the Gate' : 'each of these Gates';
  const how = `set a new reason in the annotation ${BYPASS_REASON}${BYPASS_WHEN[when]}`;
  return `To bypass ${isOne ? 'it' : 'them'}, ${how}. You need the verb bypass on ${closed.limit ? 'all Gates of the cluster' : those}.`;
}

/** The command by which a Rollout deploys a version that bypasses its closed Gates. */
export function bypassingDeployCommand(
  rollout: { namespace: string | undefined; name: string },
  version: string | undefined,
  isPinned = false,
): CommandLine {
  return [
    'To bypass closed Gates for this version only (you need the verb bypass on each of them)',
    deployVersionCommand(rollout, version, { isPinned, isBypass: true }),
  ];
}

/**
 * The sentence and the commands for an edit of a managed field behind a closed Gate. Neither an open Gate nor a bypass
 * of the object would allow that edit: only its Rollout sets the field. The Rollouts of a held object are not read, so
 * the sentence covers a pinned one too.
 */
export function managedFieldTodo(
  { metadata: { namespace } }: FluxObject,
  field: ManagedField,
  value: string | undefined,
): TextWithCommands {
  const rollout = { namespace, name: field.rollout };
  return {
    text: `Deploy the version on Rollout '${field.rollout}' instead, or change its spec.wantedVersion if that is set: only the Rollout sets ${fieldPath(field).join('.')}, even when the Gate is open.`,
    commands: [
      ['To deploy the version once the Gates are open', deployVersionCommand(rollout, value)],
      bypassingDeployCommand(rollout, value),
    ],
  };
}

/** Why a write is denied. */
export interface Denial {
  /** The reason in the metric. */
  reason: DenialReason;
  /** A sentence; without its end if `closed` is set. */
  text: string;
  /** The closed Gates. The message names those that the reader may read. */
  closed?: ClosedGates;
  /** What to do, beside opening the closed Gates. */
  todo?: Partial<TextWithCommands>;
}

/** The denial's text for a reader in `namespace` who may read these Gates of other namespaces. */
export function denialText(
  { text, closed, todo }: Denial,
  namespace: string,
  readable?: ReadableGates,
): TextWithCommands {
  const gates = closed && closedGatesText({ ...closed, gates: redactFor(closed.gates, namespace, readable) });
  const commands = [...(todo?.commands ?? []), ...(gates?.commands ?? [])];
  return {
    text: `${text}${gates ? `: ${gates.text}` : ''}${todo?.text ? ` ${todo.text}` : ''}`,
    // Several fields may have been set to one version.
    commands: [...new Map(commands.map((each) => [each[1], each])).values()],
  };
}
