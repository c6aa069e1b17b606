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
import { childOf, isMap } from '../core/kube/json.ts';
import { fluxBindingHook } from './flux/fluxBindingHook.ts';
import { fluxHook } from './flux/fluxHook.ts';
import { holdHook } from './flux/holdHook.ts';
import { gateHook } from './gateHook.ts';
import { healthCheckHook } from './healthCheck/healthCheck.ts';
import { boundedResync, type CompositeHook, type DecoratorHook, HookError } from './hook.ts';
import { gateLabelsHook } from './labels.ts';
import { rolloutHook } from './rollout/rollout.ts';
import { rolloutRequestsHook } from './rollout/usedRequests.ts';
import { budgetHook, budgetSlotsHook } from './rolloutBudget.ts';
import { rolloutGateHook } from './rolloutGate.ts';
import { scheduleHook } from './rolloutSchedule.ts';
import { type Sync, syncConsideration, syncDecisions } from './syncDecisions.ts';

type Entry =
  | { name: string; subject: 'parent'; kinds: readonly string[]; hook: CompositeHook }
  | { name: string; subject: 'object'; kinds: readonly string[]; hook: DecoratorHook };

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

/** `callOf` is asked once per request, with the hook's name: it takes the time. */
export function hookRoutes(callOf: (hook: string) => HookCall, log?: DecisionLog): Route[] {
  return HOOKS.flatMap((entry) => {
    const call = () => callOf(entry.name);
    const { customize } = entry.hook;
    const routes: Route[] = [
      {
        path: `/hooks/${entry.name}/sync`,
        async answer(body) {
          requireSubject(body, entry.subject, entry.kinds);
          const answer: CompositeResponse | DecoratorResponse = boundedResync(
            entry.subject === 'parent'
              ? await entry.hook.sync(body as CompositeRequest, call())
              : await entry.hook.sync(body as DecoratorRequest, call()),
          );
          if (log) tell(log, { hook: entry.name, ...askedOf(body, entry.subject), answer });
          return answer;
        },
        ...(entry.subject === 'object' && unreadOf(entry.hook)),
      },
    ];
    if (customize) {
      routes.push({
        path: `/hooks/${entry.name}/customize`,
        async answer(body) {
          // A customize request calls the object `parent`, for decorators too.
          requireSubject(body, 'parent', entry.kinds);
          return customize(body as CustomizeRequest, call());
        },
        ...(entry.subject === 'object' && entry.hook.unseen && { apart: true as const }),
      });
    }
    return routes;
  });
}

/** A hook that has an answer to requests of any size is the one that nothing else may crowd out. */
function unreadOf({ unseen, maxBytes }: DecoratorHook): Partial<Route> {
  if (!unseen || maxBytes === undefined) return {};
  return { answerUnread: ({ why }) => (why === 'tooLarge' ? unseen() : undefined), maxBytes, apart: true };
}

function askedOf(body: unknown, subject: Entry['subject']): Pick<Sync, 'subject' | 'observed'> {
  const { parent, children, object, attachments } = body as CompositeRequest & DecoratorRequest;
  return subject === 'parent' ? { subject: parent, observed: children } : { subject: object, observed: attachments };
}

function tell(log: DecisionLog, sync: Sync): void {
  for (const decision of syncDecisions(sync)) log.decided(decision);
  log.considered(() => syncConsideration(sync));
}

/** Refuses what Metacontroller would not send to this hook. The rest of a request is as the API server has it. @throws HookError 400 */
function requireSubject(body: unknown, subject: 'parent' | 'object', kinds: readonly string[]): void {
  const object = childOf(body, subject);
  const metadata = childOf(object, 'metadata');
  const isNamed = isMap(metadata) && typeof metadata.name === 'string' && typeof metadata.uid === 'string';
  if (isNamed && isMap(object) && typeof object.apiVersion === 'string' && kinds.includes(String(object.kind))) return;
  throw new HookError(400, `not a request for this hook: ${subject} is not a ${kinds.join(' or ')} with name and uid`);
}
