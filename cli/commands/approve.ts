/** approve and reject: a version, at the gate that is meant. */

import { KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { approveAtGate } from '../../client/actions/writes/gate.ts';
import { passRolloutGates } from '../../client/actions/writes/rollout.ts';
import { approve, holdsVersion, reject, rejectByNewGate, scheduleOf } from '../../client/actions/writes/rolloutGate.ts';
import { unknownText } from '../../client/actions/writes/versions.ts';
import { nothing, type PlannedWrite, wrong } from '../../client/actions/writes/write.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { namedIn } from '../../core/approval/accept.ts';
import { opensFor } from '../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../core/gate/gateState.ts';
import { few } from '../../core/kube/firstFew.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { shell } from '../../core/text/shell.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from '../command/command.ts';
import { type KubeClient, unlessRefused } from '../kube/client.ts';
import {
  findGate,
  findRollout,
  findRolloutGate,
  isGate,
  parseNamed,
  readAnyGate,
  rolloutGatesOf,
} from '../read/gate.ts';
import { readRelated } from '../read/related.ts';
import { readRollout } from '../read/rollouts.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { WAIT_CODES } from '../view/waitFor.ts';
import { GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { type Choice, choose } from '../write/choose.ts';
import { type Made, make } from '../write/make.ts';
import { WAITING, WAITING_FOR_LIST, WRITING } from '../write/options.ts';
import { awaitRollout, awaitRolloutGate } from '../write/wait.ts';
import { howToCreate } from './freeze.ts';

const ARGUMENTS = [
  { syntax: '<rollout-or-gate>', help: 'a Rollout, rolloutgate/qa or gate/year-end', completes: 'targets' },
  { syntax: '<version>', help: 'a tag' },
] as const;

const GATE = {
  flags: '--gate <name>',
  help: 'which RolloutGate, where a Rollout is named',
  completes: 'gates',
} as const;

export const approveCommand: CommandDefinition = {
  description: `Lets one version through the gate that holds it, and nothing after it: a RolloutGate gets it on its list, a Gate is opened for it alone. Of a Rollout it is the gate in the version's way; where there are several it says which, and asks.`,
  arguments: ARGUMENTS,
  options: [GATE, ...WRITING, ...WAITING],
  exitCodes: WAIT_CODES,
  examples: [
    ['1.2.0 is tested', "approve my-app 1.2.0 --reason 'tested, QA-88'"],
    ['at this gate', 'approve rolloutgate/qa 1.2.0'],
    ['past a Gate that is closed for everybody else', 'approve gate/year-end 1.2.0 -n flux-system'],
  ],
  run: (context, invocation) => vote(context, invocation, 'approve'),
};

export const rejectCommand: CommandDefinition = {
  description: `Puts a version on the list of those that are never deployed, not even by hand, for as long as it stands there. A Rollout without a RolloutGate gets one.`,
  arguments: ARGUMENTS,
  options: [GATE, ...WRITING, ...WAITING_FOR_LIST],
  exitCodes: GATE_WAIT_CODES,
  examples: [['before it is unpinned', "reject my-app 1.2.0 --reason 'leaks memory'"]],
  run: (context, invocation) => vote(context, invocation, 'reject'),
};

type Verb = 'approve' | 'reject';

async function vote(context: Context, invocation: Invocation, verb: Verb): Promise<number> {
  const [text, version] = invocation.arguments as [string, string];
  const { gate, reason } = invocation.options;
  const cluster = await context.cluster();
  const { rollout, ...found } = await targetOf(
    context,
    cluster,
    gate ? `rolloutgate/${gate}` : text,
    version,
    verb,
    reason,
  );
  const waiting = invocation.options.wait ? await waitingFor(cluster, { rollout, ...found }, version) : [];
  const made = await make(context, invocation, () => ask(context, invocation, cluster, { rollout, ...found }, verb));
  return verb === 'reject'
    ? awaitRolloutGate(context, invocation, made, version)
    : awaitOne(context, invocation, made, waiting, version);
}

/** As they are before the request is made. */
async function waitingFor({ client }: Cluster, { rollout, gate }: Found, version: string): Promise<Rollout[]> {
  if (rollout) return [rollout];
  return gate ? waitingAt(client, gate, version) : [];
}

/** A Gate is for many Rollouts: where several wait, somebody has to say which one is meant. */
async function awaitOne(
  context: Context,
  invocation: Invocation,
  made: Made | undefined,
  waiting: readonly Rollout[],
  version: string,
): Promise<number> {
  const [only, ...others] = waiting;
  if (only && others.length === 0) return awaitRollout(context, invocation, made, only);
  if (invocation.options.wait && made && !made.isDryRun) {
    const names = few(
      waiting.map((rollout) => refKey(identityOf(rollout))),
      8,
    );
    const where = only ? `in more than one Rollout (${names}): name one of them` : 'in no Rollout that is held there';
    context.terminal.note(`Nothing is waited for: ${version} waits ${where}.`);
  }
  return EXIT.ok;
}

/** What is meant, and the Rollout, where that was named. */
interface Found {
  rollout?: Rollout | undefined;
  gate?: { kind: 'Gate' | 'RolloutGate'; namespace: string; name: string };
  /** There is no gate to write it on. */
  none?: PlannedWrite;
}

async function ask(
  context: Context,
  { arguments: given, options }: Invocation,
  cluster: Cluster,
  { none, gate, rollout }: Found,
  verb: Verb,
): Promise<PlannedWrite> {
  if (!gate) return none!;
  const version = given[1] as string;
  const { reason } = options;
  // As it is now: somebody may have written meanwhile.
  const live = await readAnyGate(cluster, `${gate.kind}/${refKey(gate)}`, howToCreate);
  if (isGate(live)) {
    const of = rollout && identityOf(rollout);
    if (verb === 'approve') return approveAtGate(live, version, { reason, rollout: of }, context.now());
    return wrong(`Gate ${refKey(gate)} has no list of versions: reject it at a RolloutGate, or name the Rollout.`);
  }
  return verb === 'approve' ? approve(live, version, reason) : reject(live, version, reason);
}

async function targetOf(
  context: Context,
  cluster: Cluster,
  text: string,
  version: string,
  verb: Verb,
  reason: string | undefined,
): Promise<Found> {
  const { kind, namespace, name } = parseNamed(text, cluster.namespace);
  const ref = { namespace, name };
  if (kind === 'Gate' || kind === 'RolloutGate') return { gate: { kind, ...ref } };
  const [rollout, rolloutGate, gate] = await Promise.all([
    findRollout(cluster.client, ref),
    kind ? undefined : findRolloutGate(cluster.client, ref),
    kind ? undefined : findGate(cluster.client, ref),
  ]);
  if (rollout) {
    const unknown = verb === 'approve' ? unknownText(rollout, version) : undefined;
    if (unknown) context.terminal.note(`Note: ${unknown}.`);
    const chosen =
      verb === 'approve'
        ? await inTheWay(context, cluster, rollout, version, reason)
        : await toReject(context, cluster, rollout, version, reason);
    return { ...chosen, rollout };
  }
  const choices = [rolloutGate, gate].flatMap((each) => (each ? [choiceOf(verb, each, version)] : []));
  // Says where there is one of that name.
  if (choices.length === 0) await readRollout(cluster, text);
  return choose(context, `There is more than one '${name}'.`, choices);
}

/** The gates that hold the version and can let it alone through. */
async function inTheWay(
  context: Context,
  cluster: Cluster,
  rollout: Rollout,
  version: string,
  reason: string | undefined,
): Promise<Found> {
  const around = await readRelated(cluster.client, [rollout]);
  const own = around.rolloutGates.filter(({ spec }) => spec?.rolloutRef.name === rollout.metadata.name);
  const holding = own.filter((gate) => holdsVersion(gate, version));
  const app = explainRollout(rollout, around, context.now());
  const blocking = app.steps.flatMap(({ kind, state, object }) =>
    kind === 'gate' && state === 'blocks' && object ? [refKey(object)] : [],
  );
  const next = { version, rollout: refKey(identityOf(rollout)) };
  const isOpenFor = (gate: Gate) => opensFor(evaluateGate(gate, context.now()).openFor ?? '', next);
  const closed = around.gates.filter((gate) => blocking.includes(refKey(identityOf(gate))) && !isOpenFor(gate));
  const choices = [...holding.filter((gate) => !scheduleOf(gate)), ...closed].map((gate) =>
    choiceOf('approve', gate, version),
  );
  if (choices.length > 0) return choose(context, `More than one gate is in the way of ${version}.`, choices);
  const schedules = holding.flatMap((gate) => scheduleOf(gate) ?? []);
  if (schedules.length > 0) {
    context.terminal.note(`${version} is held by ${schedules.join(', ')}, which opens by its calendar.`);
    return { none: passRolloutGates(rollout, version, reason) };
  }
  if (app.unread.length > 0) {
    throw new Problem(`No gate that holds ${version} could be found. Not read: ${app.unread.join('; ')}.`);
  }
  const says = own.length > 0 ? 'its RolloutGates let it through already' : 'it has no RolloutGate, and no closed Gate';
  const of = `Rollout ${refKey(identityOf(rollout))}`;
  return { none: nothing(`Nothing of ${of} waits for an approval of ${version}: ${says}.`) };
}

async function toReject(
  context: Context,
  { client }: Cluster,
  rollout: Rollout,
  version: string,
  reason: string | undefined,
): Promise<Found> {
  const gates = (await rolloutGatesOf(client, rollout)).filter((gate) => !scheduleOf(gate));
  if (gates.length === 0) return { none: rejectByNewGate(rollout, version, reason) };
  const choices = gates.map((gate) => choiceOf('reject', gate, version));
  return choose(context, `${rollout.metadata.name} has more than one RolloutGate.`, choices);
}

function choiceOf(verb: Verb, gate: Gate | RolloutGate, version: string): Choice<Found> {
  const { namespace, name } = identityOf(gate);
  const kind = isGate(gate) ? 'Gate' : 'RolloutGate';
  const lets = isGate(gate)
    ? `opens Gate ${namespace}/${name} for ${version} only`
    : `RolloutGate ${name} lets ${version} through`;
  return {
    text: verb === 'approve' ? lets : `RolloutGate ${name}`,
    command: shell`${verb} ${kind.toLowerCase()}/${name} ${version} -n ${namespace}`,
    value: { gate: { kind, namespace, name } },
  };
}

// Which Rollouts a version waits for at a gate.

/**
 * A RolloutGate is for one Rollout, whatever waits there. Of a Gate they are those that it holds, of which it says the first hundred, that the reader
 * may read, and whose pending version this is. `version` may name the Rollout, as `shop/web:1.2.0`.
 */
async function waitingAt(
  client: KubeClient,
  gate: NamespacedName & { kind: 'Gate' | 'RolloutGate' },
  version: string,
): Promise<Rollout[]> {
  if (gate.kind === 'RolloutGate') {
    const name = (await findRolloutGate(client, gate))?.spec?.rolloutRef.name;
    return name ? readable(client, [{ namespace: gate.namespace, name }]) : [];
  }
  const { version: tag, rollout: said } = namedIn(version);
  const held = (await findGate(client, gate))?.status?.heldObjects ?? [];
  const rollouts = await readable(
    client,
    held.filter(({ kind }) => kind === KINDS.Rollout.kind),
  );
  return rollouts.filter(
    (rollout) => rollout.status?.pendingVersion === tag && (!said || refKey(identityOf(rollout)) === said),
  );
}

async function readable(client: KubeClient, refs: readonly NamespacedName[]): Promise<Rollout[]> {
  const found = await Promise.all(refs.map((ref) => unlessRefused(findRollout(client, ref), 403)));
  return found.filter((rollout) => rollout !== undefined);
}
