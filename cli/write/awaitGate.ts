/** `--wait` of `open`, `close` and `freeze`: waits until the objects are held or released. */
import { SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { AnyObject, ObjectName } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { type KubeClient, unlessRefused } from '../../connection/kube/kubeClient.ts';
import { heldText, readSelected } from '../../connection/read/heldObjects.ts';
import { readNamed } from '../../connection/read/namedObjects.ts';
import { closureKey, isLimit } from '../../core/gate/closedGates.ts';
import { evaluateGates, type GateResult } from '../../core/gate/evaluateGates.ts';
import { requirerText } from '../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { byRefKey, identityOf, refKey } from '../../core/kube/names.ts';
import { currentState, isBypass, storedState } from '../../core/objectGates/objectState.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { styleOf } from '../terminal/style.ts';
import type { Made } from './make.ts';
import { isWaitedFor, pollUntil } from './wait.ts';

export const GATE_WAIT_CODES: NonNullable<CommandDefinition['exitCodes']> = [
  [EXIT.timeout, 'with --wait: timed out; the output has what the command still waits for'],
];

/** The most objects that are checked; a Gate lists no more either. */
const MAX_FOLLOWED = 100;

const NOT_AWAITED = 'Its objects are held within seconds; --wait waits until they are.';

/**
 * Waits until the Gate has taken effect, and returns the exit code.
 * `before`: the Gate from which the write was planned. `isPlanned`: it takes effect later.
 */
export async function awaitGate(
  context: Context,
  invocation: Pick<Invocation, 'options'>,
  made: Made | undefined,
  { before, isPlanned }: { before: Gate | undefined; isPlanned: boolean },
): Promise<number> {
  const { terminal } = context;
  const isOpen = (gate: Gate) => evaluateGate(gate, context.now()).opened;
  const closes = made && !made.isDryRun && !isPlanned && !isOpen(made.object as Gate) && (!before || isOpen(before));
  if (!isWaitedFor(invocation, made)) {
    if (closes) terminal.note(NOT_AWAITED);
    return EXIT.ok;
  }
  if (isPlanned) {
    terminal.note('It takes effect later: there is nothing to wait for yet.');
    return EXIT.ok;
  }
  const { client } = await context.cluster();
  const settled: Settled = new Map();
  return pollUntil(context, invocation, async (isLate) => {
    const gate = await readNamed(client, 'Gate', made.request.object);
    if (!gate) throw new Problem(`Gate ${refKey(made.request.object)} has been deleted.`);
    const progress = await readProgress(client, gate, settled, context);
    const isDone = progress.isCounted && progress.moving.length === 0;
    if (!isDone && !isLate) return undefined;
    const rest = progress.isCounted
      ? `not done yet: ${heldText(progress.moving)}`
      : 'its objects have not been counted yet';
    terminal.print(`${lineOf(gate, progress, context)}${isDone ? '' : `; timed out; ${rest}`}`);
    return isDone ? EXIT.ok : EXIT.timeout;
  });
}

/** The objects that need not be read again, by name. `unseen`: deleted, or the user can't read it. */
type Settled = Map<string, Exclude<Effect, 'moving'> | 'unseen'>;

interface GateProgress {
  opened: boolean;
  /** Whether the Gate's status has the number of objects that require it. */
  isCounted: boolean;
  held: ObjectName[];
  free: ObjectName[];
  moving: ObjectName[];
  /** The number of objects that are not checked, or not readable. */
  unseen: number;
}

/** The state of the objects that require the Gate. Adds those that have changed to `settled`, and prints them. */
async function readProgress(client: KubeClient, gate: Gate, settled: Settled, context: Context): Promise<GateProgress> {
  const [result] = evaluateGates([identityOf(gate)], byRefKey([gate]), context.now());
  const opened = result!.isOpen;
  const { requiredByCount: count, requiredBy = [], observedGeneration = 0 } = gate.status ?? {};
  const { held: selected } = await readSelected(client, gate);
  const requiring = new Map([...requiredBy, ...selected].map((each) => [requirerText(each), each]));
  const followed = [...requiring.keys()]
    .sort()
    .slice(0, MAX_FOLLOWED)
    .map((name) => requiring.get(name)!);
  await Promise.all(
    followed.map(async (requirer) => {
      const name = requirerText(requirer);
      if (settled.has(name)) return;
      const effect = await effectNow(client, requirer, result!);
      if (effect === 'moving') return;
      settled.set(name, effect);
      if (effect !== 'unseen')
        context.terminal.note(`${name} ${effect === 'held' ? 'is held' : opened ? 'is released' : 'bypasses it'}`);
    }),
  );
  const of = (effect: Effect | 'unseen') =>
    followed.filter((each) => (settled.get(requirerText(each)) ?? 'moving') === effect);
  return {
    opened,
    isCounted: count !== undefined && observedGeneration >= (gate.metadata.generation ?? 0),
    held: of('held'),
    free: of('free'),
    moving: of('moving'),
    unseen: Math.max(requiring.size, count ?? 0) - followed.length + of('unseen').length,
  };
}

async function effectNow(
  client: KubeClient,
  { kind, namespace, name }: ObjectName,
  gate: GateResult,
): Promise<Effect | 'unseen'> {
  const from = { ...resourceOf(KINDS[kind as KindName]), namespace, name };
  const object = await unlessRefused(client.get<AnyObject>(from), 403);
  return object ? effectOn(object, gate) : 'unseen';
}

/** The last line: `shop/incident: closed by sre: INC-42; held: 1 Kustomization (app) and 1 Rollout (app)`. */
function lineOf(gate: Gate, { opened, held, free, unseen }: GateProgress, context: Context): string {
  const parts = opened
    ? [
        `released: ${textOf(free)}`,
        ...(held.length > 0 ? [`still suspended, by another Gate or a user: ${heldText(held)}`] : []),
      ]
    : [`held: ${textOf(held)}`, ...(free.length > 0 ? [`running despite the Gate: ${heldText(free)}`] : [])];
  const rest = unseen > 0 ? `; not checked: ${unseen}` : '';
  return styleOf(context).text(
    `${refKey(identityOf(gate))}: ${gateText(gate, context.now())}; ${parts.join('; ')}${rest}`,
  );
}

function textOf(requirers: readonly ObjectName[]): string {
  return requirers.length === 0 ? 'nothing' : heldText(requirers);
}

/** The effect of a Gate on an object. `held`: by a Gate, a limit, or manually. `moving`: neither held nor free yet. */
export type Effect = 'held' | 'free' | 'moving';

type EvaluatedGate = Pick<GateResult, 'key' | 'isOpen' | 'closure'>;

export function effectOn(object: AnyObject, gate: EvaluatedGate): Effect {
  return object.kind === KINDS.Rollout.kind
    ? effectOnRollout(object as Rollout, gate)
    : effectOnFlux(object as FluxObject, gate);
}

function effectOnRollout({ status }: Rollout, { key, isOpen }: EvaluatedGate): Effect {
  const closed = (status?.gates ?? []).filter(({ kind, passing }) => kind === KINDS.Gate.kind && passing === false);
  const isNamed = closed.some(({ name }) => name === key);
  if (!isOpen) return isNamed || closed.some(({ name }) => isLimit(name)) ? 'held' : 'moving';
  if (isNamed) return 'moving';
  return closed.length > 0 ? 'held' : 'free';
}

function effectOnFlux(object: FluxObject, gate: EvaluatedGate): Effect {
  const state = storedState(object);
  const isSuspended = object.spec?.suspend === true;
  const isNamed = state?.is === 'closed' && state.gates.includes(gate.key);
  if (!gate.isOpen) {
    if (isBypass(currentState(object, [closureKey(gate)]))) return 'free';
    const isHeld = isNamed || (state?.is === 'closed' && state.gates.some(isLimit));
    return isHeld && isSuspended ? 'held' : 'moving';
  }
  if (!isSuspended) return 'free';
  if (state?.is === 'closed') return isNamed ? 'moving' : 'held';
  return object.metadata.annotations?.[SUSPENDED] === undefined ? 'held' : 'moving';
}
