/** `approve` and `reject`: one version, at a Gate or RolloutGate. */
import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { commandOf } from '../../client/actions/lines.ts';
import { badRequest, noChange, type PlannedWrite } from '../../client/actions/writes/plannedWrite.ts';
import { holdsVersion, rejectByNewGate, scheduleOf } from '../../client/actions/writes/rolloutGateWrites.ts';
import { unknownText } from '../../client/actions/writes/rolloutWrites.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { type KubeClient, unlessRefused } from '../../connection/kube/kubeClient.ts';
import {
  isGate,
  type ParsedName,
  parseName,
  readAnyGate,
  readNamed,
  readRollout,
  readRolloutGatesOf,
} from '../../connection/read/namedObjects.ts';
import { readRelated } from '../../connection/read/readRelated.ts';
import { splitTarget } from '../../core/approval/approvalRecord.ts';
import { targetsVersion } from '../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { shell } from '../../core/text/shell.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { APPROVABLE, LIST_WAIT_OPTIONS, WAIT_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { act } from '../write/act.ts';
import { GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { type Alternative, choose } from '../write/choose.ts';
import type { Made } from '../write/make.ts';
import { awaitRollout, awaitRolloutGate, WAIT_CODES } from '../write/wait.ts';
import { howToCreate } from './gateCommands.ts';

const ARGUMENTS = [
  { syntax: '<rollout-or-gate>', help: 'a Rollout, rolloutgate/qa or gate/year-end', completes: APPROVABLE },
  { syntax: '<version>', help: 'a tag', completes: 'versions' },
] as const;

export const approveCommand: CommandDefinition = {
  description: `Allows one version, and no later one, at the Gate or RolloutGate that blocks it.

- A RolloutGate adds the version to allowedVersions. A closed one is opened for this version only.
- A Gate opens for this version only.
- With spec.approvals, your approval is recorded.

If you name a Rollout, the command finds what blocks the version. If there are several, it lists them and asks which one.`,
  arguments: ARGUMENTS,
  options: [...WRITE_OPTIONS, ...WAIT_OPTIONS],
  exitCodes: WAIT_CODES,
  examples: [
    ['1.2.0 is tested', "approve my-app 1.2.0 --reason 'tested, QA-88'"],
    ['at this RolloutGate', 'approve rolloutgate/qa 1.2.0'],
    ['at a Gate that stays closed for other versions', 'approve gate/year-end 1.2.0 -n flux-system'],
  ],
  run: (context, invocation) => vote(context, invocation, 'approve'),
};

export const rejectCommand: CommandDefinition = {
  description: `Rejects a version at a RolloutGate: while it is listed, it isn't deployed, not even manually.

If the Rollout has no RolloutGate, the command creates one.`,
  arguments: ARGUMENTS,
  options: [...WRITE_OPTIONS, ...LIST_WAIT_OPTIONS],
  exitCodes: GATE_WAIT_CODES,
  examples: [['prevent a version from being deployed once you unpin', "reject my-app 1.2.0 --reason 'leaks memory'"]],
  run: (context, invocation) => vote(context, invocation, 'reject'),
};

type Verb = 'approve' | 'reject';

async function vote(context: Context, invocation: Invocation, verb: Verb): Promise<number> {
  const [text, version] = invocation.arguments as [string, string];
  const { reason, wait } = invocation.options;
  const cluster = await context.cluster();
  const request = { version, verb, reason };
  const found = await targetOf(context, cluster, text, request);
  // Read before the write: afterwards they may no longer wait.
  const waiting =
    wait && found.gate && !found.rollout ? await rolloutsWaitingAt(cluster.client, found.gate, version) : [];
  const create = (parsed: ParsedName) => howToCreate(cluster, parsed);
  const { rollout, gate: at, write } = found;
  return act(context, invocation, {
    read: async () => (at ? readAnyGate(cluster, `${at.kind}/${refKey(at)}`, create) : rollout),
    request() {
      if (!at) return write!;
      if (at.kind === 'RolloutGate' || verb === 'approve')
        return { type: verb, version, ...(rollout && { rollout: identityOf(rollout) }) };
      const instead = `Reject ${version} at a RolloutGate, or name the Rollout.`;
      return badRequest(`Gate ${refKey(at)} can't reject a version. ${instead}`);
    },
    wait: (made) =>
      verb === 'reject'
        ? awaitRolloutGate(context, invocation, made, version)
        : awaitOne(context, invocation, made, rollout ? [rollout] : waiting, version),
  });
}

/** Waits for the Rollout, if only one is waiting for the version. */
async function awaitOne(
  context: Context,
  invocation: Invocation,
  made: Made,
  waiting: readonly Rollout[],
  version: string,
): Promise<number> {
  const [only, ...others] = waiting;
  if (only && others.length === 0) return awaitRollout(context, invocation, made, only);
  const names = waiting.map((rollout) => refKey(identityOf(rollout)));
  const text = only
    ? `${version} is waiting in more than one Rollout (${firstFew(names, 8)}): name one of them`
    : `no Rollout is waiting there for ${version}`;
  context.terminal.note(`Not waiting: ${text}.`);
  return EXIT.ok;
}

interface VersionRequest {
  version: string;
  verb: Verb;
  reason: string | undefined;
}

type GateRef = NamespacedName & { kind: 'Gate' | 'RolloutGate' };

/** The Gate or RolloutGate of a request; or the write without one. `rollout`: the Rollout that the user has named. */
interface Target {
  rollout?: Rollout | undefined;
  gate?: GateRef;
  write?: PlannedWrite;
}

async function targetOf(context: Context, cluster: Cluster, text: string, request: VersionRequest): Promise<Target> {
  const { version, verb, reason } = request;
  const { kind, namespace, name } = parseName(text, cluster.namespace);
  const ref = { namespace, name };
  if (kind === 'Gate' || kind === 'RolloutGate') return { gate: { kind, ...ref } };
  const [rollout, ...gates] = await Promise.all([
    readNamed(cluster.client, 'Rollout', ref),
    kind ? undefined : readNamed(cluster.client, 'RolloutGate', ref),
    kind ? undefined : readNamed(cluster.client, 'Gate', ref),
  ]);
  if (!rollout) {
    const choices = gates.flatMap((each) => (each ? [choiceOf(verb, each, version)] : []));
    // Throws, with a hint if the name exists in another namespace.
    if (choices.length === 0) await readRollout(cluster, text);
    return choose(context, `There is more than one '${name}'.`, choices);
  }
  const note = noteAbout(rollout, version, verb);
  if (note) context.terminal.note(`Note: ${note}.`);
  if (verb === 'approve') {
    return { ...(await gateToApproveAt(context, cluster, rollout, version)), rollout };
  }
  const own = (await readRolloutGatesOf(cluster.client, rollout)).filter((gate) => !scheduleOf(gate));
  if (own.length === 0) return { write: rejectByNewGate(rollout, version, reason), rollout };
  const choices = own.map((gate) => choiceOf(verb, gate, version));
  return { ...(await choose(context, `${rollout.metadata.name} has more than one RolloutGate.`, choices)), rollout };
}

/** The note for a vote that changes nothing, or not now. */
function noteAbout(rollout: Rollout, version: string, verb: Verb): string | undefined {
  if (rollout.status?.history?.[0]?.version.tag === version)
    return verb === 'approve'
      ? `${version} is deployed already`
      : `${version} is deployed, and stays. The command rollback goes back to the version before`;
  return verb === 'approve' ? unknownText(rollout, version) : undefined;
}

/** The Gate or RolloutGate that holds the version and can allow it alone; if there are several, the user's choice. */
async function gateToApproveAt(context: Context, cluster: Cluster, rollout: Rollout, version: string): Promise<Target> {
  const related = await readRelated(cluster.client, [rollout]);
  const own = related.rolloutGates.filter(({ spec }) => spec?.rolloutRef.name === rollout.metadata.name);
  const holding = own.filter((gate) => holdsVersion(gate, version));
  const app = explainRollout(rollout, related, context.now());
  const blocking = app.steps.flatMap(({ kind, state, object }) =>
    kind === 'gate' && state === 'blocks' && object ? [refKey(object)] : [],
  );
  const of = refKey(identityOf(rollout));
  const passes = (gate: Gate) =>
    targetsVersion(evaluateGate(gate, context.now()).openFor ?? '', { version, rollout: of });
  const closed = related.gates.filter((gate) => blocking.includes(refKey(identityOf(gate))) && !passes(gate));
  const gates = [...holding.filter((gate) => !scheduleOf(gate)), ...closed];
  if (gates.length > 0) {
    const choices = gates.map((gate) => choiceOf('approve', gate, version));
    return choose(context, `More than one Gate or RolloutGate blocks ${version}.`, choices);
  }
  const schedules = holding.flatMap((gate) => scheduleOf(gate) ?? []);
  if (schedules.length > 0) {
    const [block, open] =
      schedules.length > 1 ? ['block', 'open by their calendars'] : ['blocks', 'opens by its calendar'];
    const object = { kind: 'Rollout' as const, ...identityOf(rollout) };
    throw new Problem(
      `${schedules.join(' and ')} ${block} ${version}, and ${open}. To bypass every RolloutGate:\n` +
        `  ${commandOf({ type: 'bypassRolloutGates', object, version })}`,
    );
  }
  if (app.unread.length > 0)
    throw new Problem(`No Gate or RolloutGate that blocks ${version} was found. Not read: ${app.unread.join('; ')}.`);
  const why = own.length > 0 ? 'its RolloutGates allow it already' : 'it has no RolloutGate, and no closed Gate';
  return { write: noChange(`Rollout ${of} does not wait for an approval of ${version}: ${why}.`) };
}

function choiceOf(verb: Verb, gate: Gate | RolloutGate, version: string): Alternative<Target> {
  const { namespace, name } = identityOf(gate);
  const kind = isGate(gate) ? 'Gate' : 'RolloutGate';
  const effect = isGate(gate)
    ? `opens Gate ${namespace}/${name} for ${version} only`
    : `RolloutGate ${name} allows ${version}`;
  return {
    text: verb === 'approve' ? effect : `RolloutGate ${name}`,
    command: shell`${verb} ${kind.toLowerCase()}/${name} ${version} -n ${namespace}`,
    value: { gate: { kind, namespace, name } },
  };
}

/**
 * The Rollouts that wait at a Gate or RolloutGate with the version, as far as the user may read them. A Gate lists at
 * most a hundred. `version`: `1.2.0`, or `shop/web:1.2.0` for one Rollout.
 */
async function rolloutsWaitingAt(client: KubeClient, gate: GateRef, version: string): Promise<Rollout[]> {
  const readRollouts = async (refs: readonly NamespacedName[]) => {
    const found = await Promise.all(refs.map((ref) => unlessRefused(readNamed(client, 'Rollout', ref), 403)));
    return found.filter((rollout) => rollout !== undefined);
  };
  if (gate.kind === 'RolloutGate') {
    const name = (await readNamed(client, 'RolloutGate', gate))?.spec?.rolloutRef.name;
    return name ? readRollouts([{ namespace: gate.namespace, name }]) : [];
  }
  const { version: tag, rollout: named } = splitTarget(version);
  const held = (await readNamed(client, 'Gate', gate))?.status?.requiredBy ?? [];
  const rollouts = await readRollouts(held.filter(({ kind }) => kind === KINDS.Rollout.kind));
  return rollouts.filter(
    (rollout) => rollout.status?.pendingVersion === tag && (!named || refKey(identityOf(rollout)) === named),
  );
}
