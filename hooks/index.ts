/** The route table of the Metacontroller hooks: `/hooks/<name>/sync` and `/hooks/<name>/customize`. */
import { GOVERNED_KINDS } from '../api/kinds.ts';
import type {
  CompositeRequest,
  CompositeResponse,
  CustomizeRequest,
  DecoratorRequest,
  DecoratorResponse,
} from '../api/metacontroller.ts';
import type { DecisionLog, HookCall, Route } from '../api/ports.ts';
import { isMap } from '../core/kube/json.ts';
import { mapProblem, shapeProblem } from '../core/kube/shape.ts';
import { fluxBindingHook } from './flux/fluxBindingHook.ts';
import { fluxHook } from './flux/fluxHook.ts';
import { holdHook } from './flux/holdHook.ts';
import { gateHook, gateLabelsHook } from './gateHook.ts';
import { healthCheckHook } from './healthCheck/healthCheckHook.ts';
import { boundedResync, type CompositeHook, type DecoratorHook, HookError } from './hook.ts';
import { rolloutHook } from './rollout/rolloutHook.ts';
import { rolloutRequestsHook } from './rollout/rolloutRequestsHook.ts';
import { budgetHook, budgetSlotsHook } from './rolloutBudgetHook.ts';
import { rolloutGateHook } from './rolloutGateHook.ts';
import { scheduleHook } from './rolloutScheduleHook.ts';
import { type Sync, syncDebugLine, syncDecisions } from './syncDecisions.ts';

/** A hook with the kinds of its objects, by which requests are checked; `never` stands for the type of each. */
type Entry =
  | { name: string; subject: 'parent'; kinds: readonly string[]; hook: CompositeHook<never> }
  | { name: string; subject: 'object'; kinds: readonly string[]; hook: DecoratorHook<never> };

const HOOKS: readonly Entry[] = [
  { name: 'rollout', subject: 'parent', kinds: ['Rollout'], hook: rolloutHook },
  { name: 'rollout-requests', subject: 'object', kinds: ['Rollout'], hook: rolloutRequestsHook },
  { name: 'rolloutgate', subject: 'object', kinds: ['RolloutGate'], hook: rolloutGateHook },
  { name: 'healthcheck', subject: 'object', kinds: ['HealthCheck'], hook: healthCheckHook },
  { name: 'rolloutschedule', subject: 'parent', kinds: ['RolloutSchedule'], hook: scheduleHook },
  { name: 'clusterrolloutschedule', subject: 'parent', kinds: ['ClusterRolloutSchedule'], hook: scheduleHook },
  { name: 'rolloutbudget', subject: 'parent', kinds: ['RolloutBudget'], hook: budgetHook },
  { name: 'clusterrolloutbudget', subject: 'parent', kinds: ['ClusterRolloutBudget'], hook: budgetHook },
  {
    name: 'rolloutbudget-slots',
    subject: 'object',
    kinds: ['RolloutBudget', 'ClusterRolloutBudget'],
    hook: budgetSlotsHook,
  },
  { name: 'gate', subject: 'parent', kinds: ['Gate'], hook: gateHook },
  { name: 'gate-labels', subject: 'object', kinds: ['Gate'], hook: gateLabelsHook },
  { name: 'fluxbinding', subject: 'parent', kinds: ['FluxBinding'], hook: fluxBindingHook },
  { name: 'flux', subject: 'object', kinds: GOVERNED_KINDS.map(({ kind }) => kind), hook: fluxHook },
  { name: 'hold', subject: 'object', kinds: GOVERNED_KINDS.map(({ kind }) => kind), hook: holdHook },
];

/** The routes of all hooks. @param callOf called once per request with the hook's name; reads the clock */
export function hookRoutes(callOf: (hook: string) => HookCall, log?: DecisionLog): Route[] {
  return HOOKS.flatMap((entry) => {
    const call = () => callOf(entry.name);
    const { customize } = entry.hook;
    const routes: Route[] = [
      {
        path: `/hooks/${entry.name}/sync`,
        async answer(body) {
          checkRequest(body, entry.subject, entry.kinds);
          const answer = boundedResync(
            await asBadRequest<CompositeResponse | DecoratorResponse>(body, () =>
              entry.subject === 'parent'
                ? entry.hook.sync(body as CompositeRequest<never>, call())
                : entry.hook.sync(body as DecoratorRequest<never>, call()),
            ),
          );
          if (log) logSync(log, { hook: entry.name, ...observedIn(body, entry.subject), answer });
          return answer;
        },
        ...(entry.subject === 'object' && unreadOf(entry.hook, call)),
      },
    ];
    if (customize) {
      routes.push({
        path: `/hooks/${entry.name}/customize`,
        async answer(body) {
          // A customize request calls the object `parent`, for decorators too.
          checkRequest(body, 'parent', entry.kinds);
          return asBadRequest(body, () => customize(body as CustomizeRequest<never>, call()));
        },
        ...(entry.subject === 'object' && entry.hook.answerTooLarge && { hasOwnLane: true as const }),
      });
    }
    return routes;
  });
}

/**
 * The part of a route that answers requests too large to be read. It has limits of its own (`hasOwnLane`), so that
 * other hooks can't crowd it out.
 */
function unreadOf({ answerTooLarge, maxBytes }: DecoratorHook<never>, call: () => HookCall): Partial<Route> {
  if (!answerTooLarge || maxBytes === undefined) return {};
  return {
    answerUnread: ({ why }) => (why === 'tooLarge' ? answerTooLarge(call().now) : undefined),
    maxBytes,
    hasOwnLane: true,
  };
}

/** The object of a sync, and its children or attachments. */
function observedIn(body: unknown, subject: Entry['subject']): Pick<Sync, 'subject' | 'observed'> {
  const { parent, children, object, attachments } = body as CompositeRequest & DecoratorRequest;
  return subject === 'parent' ? { subject: parent, observed: children } : { subject: object, observed: attachments };
}

function logSync(log: DecisionLog, sync: Sync): void {
  for (const decision of syncDecisions(sync)) log.decided(decision);
  log.considered(() => syncDebugLine(sync));
}

/** The answer. An unexpected error becomes a 400 if Metacontroller could not have sent the request. */
async function asBadRequest<T>(body: unknown, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (typeof (error as { status?: unknown }).status === 'number') throw error;
    const { parent, object, related, children, attachments } = body as Record<string, unknown>;
    const problem =
      (parent === undefined ? undefined : shapeProblem(parent, '/parent')) ??
      (object === undefined ? undefined : shapeProblem(object, '/object')) ??
      mapProblem(related, '/related') ??
      mapProblem(children, '/children') ??
      mapProblem(attachments, '/attachments');
    throw problem ? new HookError(400, `not a request for this hook: ${problem}`) : error;
  }
}

/** @throws HookError 400, which names the wrong field, if Metacontroller would not send this to the hook. */
function checkRequest(body: unknown, subject: 'parent' | 'object', kinds: readonly string[]): void {
  const problem = requestProblem(body, subject, kinds);
  if (problem !== undefined) throw new HookError(400, `not a request for this hook: ${problem}`);
}

function requestProblem(body: unknown, subject: 'parent' | 'object', kinds: readonly string[]): string | undefined {
  if (!isMap(body)) return 'the body must be a JSON object';
  const object = body[subject];
  if (!isMap(object)) return `/${subject} must be object`;
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string') return `/${subject}/apiVersion must be string`;
  if (typeof kind !== 'string' || !kinds.includes(kind)) return `/${subject}/kind must be one of ${kinds.join(', ')}`;
  if (!isMap(metadata)) return `/${subject}/metadata must be object`;
  const unnamed = ['name', 'uid'].find((field) => typeof metadata[field] !== 'string');
  if (unnamed) return `/${subject}/metadata/${unnamed} must be string`;
  const wrong = ['related', 'children', 'attachments'].find((field) => !isMap(body[field] ?? {}));
  return wrong && `/${wrong} must be object`;
}
