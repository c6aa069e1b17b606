/** `--wait` of what opens and closes: what is held now, and what goes on. */
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { heldText } from '../../client/actions/writes/held.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { type Standing, standingOf } from '../../client/explain/standing.ts';
import { type Requirer, requirerText } from '../../core/gate/gateSelection.ts';
import { evaluateGate } from '../../core/gate/gateState.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { type KubeClient, unlessRefused } from '../kube/client.ts';
import { findGate } from '../read/gate.ts';
import { readSelected } from '../read/held.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { styleOf } from '../view/style.ts';
import type { Made } from './make.ts';
import { isWaitedFor, pollUntil } from './wait.ts';

export const GATE_WAIT_CODES: NonNullable<CommandDefinition['exitCodes']> = [
  [EXIT.timeout, 'with --wait: not in time; the line says what is not there yet'],
];

/** So many objects are followed one by one; a Gate names no more either. */
const FOLLOWED = 100;

/** `isPlanned`: it takes effect later. Answers the exit code. */
export async function awaitGate(
  context: Context,
  invocation: Pick<Invocation, 'options'>,
  made: Made | undefined,
  { isPlanned }: { isPlanned: boolean },
): Promise<number> {
  if (!isWaitedFor(invocation, made)) return EXIT.ok;
  const { terminal } = context;
  if (isPlanned) {
    terminal.note('It takes effect later: there is nothing to wait for yet.');
    return EXIT.ok;
  }
  const { client } = await context.cluster();
  const settled: Settled = new Map();
  return pollUntil(context, invocation, async (isLate) => {
    const gate = await findGate(client, made.request.object);
    if (!gate) throw new Problem(`Gate ${refKey(made.request.object)} has been deleted.`);
    const seen = await look(client, gate, settled, context);
    const isSettled = seen.isCounted && seen.moving.length === 0;
    if (!isSettled && !isLate) return undefined;
    const rest = seen.isCounted ? `not there yet: ${heldText(seen.moving)}` : 'what requires it is not counted yet';
    terminal.print(`${lineOf(gate, seen, context)}${isSettled ? '' : `; not in time; ${rest}`}`);
    return isSettled ? EXIT.ok : EXIT.timeout;
  });
}

/** What does not have to be read again, by name. `unseen`: gone, or the reader may not read it. */
type Settled = Map<string, Exclude<Standing, 'moving'> | 'unseen'>;

interface Seen {
  opened: boolean;
  /** Whether the Gate says how many require it. */
  isCounted: boolean;
  held: Requirer[];
  free: Requirer[];
  moving: Requirer[];
  /** Beyond those that are followed, or not to be read. */
  unseen: number;
}

/** Fills `settled`. */
async function look(client: KubeClient, gate: Gate, settled: Settled, context: Context): Promise<Seen> {
  const { opened } = evaluateGate(gate, context.now());
  const { held: count, heldObjects = [], observedGeneration = 0 } = gate.status ?? {};
  const { held: selected } = await readSelected(client, gate);
  const requiring = new Map([...heldObjects, ...selected].map((each) => [requirerText(each), each]));
  const followed = [...requiring.keys()]
    .sort()
    .slice(0, FOLLOWED)
    .map((name) => requiring.get(name)!);
  await Promise.all(
    followed.map(async (requirer) => {
      const name = requirerText(requirer);
      if (settled.has(name)) return;
      const standing = await standingNow(client, requirer, gate, opened);
      if (standing === 'moving') return;
      settled.set(name, standing);
      if (standing !== 'unseen')
        context.terminal.note(`${name} ${standing === 'held' ? 'is held' : opened ? 'goes on' : 'goes past it'}`);
    }),
  );
  const of = (standing: Standing | 'unseen') =>
    followed.filter((each) => (settled.get(requirerText(each)) ?? 'moving') === standing);
  return {
    opened,
    isCounted: count !== undefined && observedGeneration >= (gate.metadata.generation ?? 0),
    held: of('held'),
    free: of('free'),
    moving: of('moving'),
    unseen: Math.max(requiring.size, count ?? 0) - followed.length + of('unseen').length,
  };
}

async function standingNow(
  client: KubeClient,
  { kind, namespace, name }: Requirer,
  gate: Gate,
  opened: boolean,
): Promise<Standing | 'unseen'> {
  const from = { ...resourceOf(KINDS[kind as KindName]), namespace, name };
  const object = await unlessRefused(client.get<KubeObject<any, any>>(from), 403);
  return object ? standingOf(object, refKey(identityOf(gate)), opened) : 'unseen';
}

/** `shop/incident: closed by sre: INC-42; held: 1 Kustomization (app) and 1 Rollout (app)` */
function lineOf(gate: Gate, { opened, held, free, unseen }: Seen, context: Context): string {
  const parts = opened
    ? [`go on: ${textOf(free)}`, ...(held.length > 0 ? [`still held, by something else: ${heldText(held)}`] : [])]
    : [`held: ${textOf(held)}`, ...(free.length > 0 ? [`go past it: ${heldText(free)}`] : [])];
  const rest = unseen > 0 ? `; not looked at: ${unseen}` : '';
  return styleOf(context).text(
    `${refKey(identityOf(gate))}: ${gateText(gate, context.now())}; ${parts.join('; ')}${rest}`,
  );
}

function textOf(requirers: readonly Requirer[]): string {
  return requirers.length === 0 ? 'nothing' : heldText(requirers);
}
