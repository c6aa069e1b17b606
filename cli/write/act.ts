/** Makes the write of an action: reads its object, plans it by the table of actions, asks, writes, and waits. */
import type { FluxObject } from '../../api/flux.ts';
import type { KindName } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { Budget, Gate, Rollout } from '../../api/types.ts';
import type { ActionRequest } from '../../client/actions/action.ts';
import { writeOf } from '../../client/actions/table.ts';
import { continueProgress } from '../../client/actions/writes/budgetWrites.ts';
import { reconcileProgress } from '../../client/actions/writes/fluxObjectWrites.ts';
import { isRequest, type PlannedWrite, type WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import { EXIT } from '../../client/problem.ts';
import { identityOf } from '../../core/kube/names.ts';
import type { Context, Invocation } from '../command/command.ts';
import { awaitGate } from './awaitGate.ts';
import { type Made, make, printObject } from './make.ts';
import { awaitObject, awaitRollout, awaitRolloutGate, isWaitedFor } from './wait.ts';

/** The action that a command requests. `object`: the one that was read when absent; `reason`: --reason. */
type Requested = Omit<ActionRequest, 'object'> & Partial<Pick<ActionRequest, 'object'>>;

interface Acting<T extends AnyObject | undefined> {
  /** Reads the object as it is now. @throws Problem without one that the action needs */
  read(): Promise<T>;
  /** The action, or a write that is not in the table of actions. */
  request(found: T): Requested | PlannedWrite | Promise<Requested | PlannedWrite>;
  /** The write after further checks, such as those that read other objects. */
  review?(planned: WriteRequest, found: T): PlannedWrite | Promise<PlannedWrite>;
  /** Waits for the effect; absent: by the kind of the object. */
  wait?(made: Made): Promise<number>;
}

/** Makes the write of an action, waits for its effect with --wait, and returns the exit code. */
export async function act<T extends AnyObject | undefined>(
  context: Context,
  invocation: Invocation,
  { read, request, review, wait }: Acting<T>,
): Promise<number> {
  let found: T | undefined;
  let requested: Requested | PlannedWrite | undefined;
  const made = await make(context, invocation, async () => {
    found = await read();
    requested = await request(found);
    if (!('type' in requested)) return requested;
    const object = requested.object ?? { kind: found!.kind as KindName, ...identityOf(found!) };
    const planned = writeOf({ reason: invocation.options.reason, ...requested, object }, found, context.now());
    return review && isRequest(planned) ? review(planned, found) : planned;
  });
  // A program reads the object also if there was nothing to write.
  if (!made && found) await printObject(context, invocation.options, found);
  if (wait) return isWaitedFor(invocation, made) ? wait(made) : EXIT.ok;
  const action = requested && 'type' in requested ? requested : {};
  return awaitEffect(context, invocation, made, found, action);
}

/** Waits for the effect of a write, by the kind of its object. `before`: the object from which it was planned. */
async function awaitEffect(
  context: Context,
  invocation: Invocation,
  made: Made | undefined,
  before: AnyObject | undefined,
  { version = '', span, freeze }: Partial<Requested>,
): Promise<number> {
  const isPlanned = (span?.at ?? freeze?.at ?? freeze?.every) !== undefined;
  const kind = made?.request.object.kind;
  if (kind === 'Gate') return awaitGate(context, invocation, made, { before: before as Gate | undefined, isPlanned });
  if (!isWaitedFor(invocation, made)) return EXIT.ok;
  switch (kind) {
    case 'Rollout':
      return awaitRollout(context, invocation, made, before as Rollout);
    case 'RolloutGate':
      return awaitRolloutGate(context, invocation, made);
    case 'RolloutBudget':
    case 'ClusterRolloutBudget':
      return awaitObject<Budget>(context, invocation, made, (budget) => continueProgress(budget, version));
    default:
      return awaitObject<FluxObject>(context, invocation, made, (object) => reconcileProgress(object, context.now()));
  }
}
