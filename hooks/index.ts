/** The route table of the Metacontroller hooks: `/hooks/<name>/sync` and `/hooks/<name>/customize`. */
import { Ajv, type ValidateFunction } from 'ajv';
import { GOVERNED_KINDS } from '../api/kinds.ts';
import type {
  CompositeRequest,
  CompositeResponse,
  CustomizeRequest,
  DecoratorRequest,
  DecoratorResponse,
} from '../api/metacontroller.ts';
import type { DecisionLog, HookCall, Route } from '../api/ports.ts';
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
import { type Sync, syncConsideration, syncDecisions } from './syncDecisions.ts';

/** A hook with the kinds of its objects, by which requests are checked; `never` stands for the type of each. */
type Entry =
  | { name: string; subject: 'parent'; kinds: readonly string[]; hook: CompositeHook<never> }
  | { name: string; subject: 'object'; kinds: readonly string[]; hook: DecoratorHook<never> };

export const HOOKS: readonly Entry[] = [
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
    const check = envelopeCheck(entry.subject, entry.kinds);
    const { customize } = entry.hook;
    const routes: Route[] = [
      {
        path: `/hooks/${entry.name}/sync`,
        async answer(body) {
          check(body);
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
      // A customize request calls the object `parent`, for decorators too.
      const checkParent = envelopeCheck('parent', entry.kinds);
      routes.push({
        path: `/hooks/${entry.name}/customize`,
        async answer(body) {
          checkParent(body);
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
  log.considered(() => syncConsideration(sync));
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

// Checks that a request is one that Metacontroller would send to this hook.

const ajv = new Ajv({ allErrors: false });

const object = (kinds: readonly string[]) => ({
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string', enum: kinds },
    metadata: {
      type: 'object',
      required: ['name', 'uid'],
      properties: { name: { type: 'string' }, uid: { type: 'string' } },
    },
  },
});

const envelope = (subject: 'parent' | 'object', kinds: readonly string[]) => ({
  type: 'object',
  required: [subject],
  properties: {
    [subject]: object(kinds),
    related: { type: ['object', 'null'] },
    children: { type: ['object', 'null'] },
    attachments: { type: ['object', 'null'] },
  },
});

const validators = new Map<string, ValidateFunction>();

/** The validator, compiled at the first request: most tests and tools make all routes and call few of them. */
function validatorOf(subject: 'parent' | 'object', kinds: readonly string[]): ValidateFunction {
  const key = `${subject} ${kinds}`;
  const validate = validators.get(key) ?? ajv.compile(envelope(subject, kinds));
  validators.set(key, validate);
  return validate;
}

/** A check that throws a HookError 400 with the name of the wrong field. `subject` is `parent` or `object`. */
function envelopeCheck(subject: 'parent' | 'object', kinds: readonly string[]): (body: unknown) => void {
  return (body) => {
    const validate = validatorOf(subject, kinds);
    if (validate(body)) return;
    const [error] = validate.errors ?? [];
    const allowed = error?.params?.allowedValues ? `: ${error.params.allowedValues.join(', ')}` : '';
    throw new HookError(
      400,
      `not a request for this hook: ${error?.instancePath || 'body'} ${error?.message}${allowed}`,
    );
  };
}
