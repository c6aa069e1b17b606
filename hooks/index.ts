/** The route table of the Metacontroller hooks: `/hooks/<name>/sync` and `/hooks/<name>/customize`. */
import { GOVERNED_KINDS } from '../api/flux.ts';
import type { CompositeRequest, CustomizeRequest, DecoratorRequest } from '../api/metacontroller.ts';
import type { HookCall, Route } from '../api/ports.ts';
import { envelopeCheck } from './envelope.ts';
import { fluxHook } from './flux.ts';
import { fluxBindingHook } from './fluxBinding.ts';
import { gateHook } from './gate.ts';
import { healthCheckHook } from './healthCheck.ts';
import type { CompositeHook, DecoratorHook } from './hook.ts';
import { boundedResync } from './resync.ts';
import { rolloutHook } from './rollout.ts';
import { rolloutGateHook } from './rolloutGate.ts';
import { rolloutRequestsHook } from './rolloutRequests.ts';
import { clusterRolloutScheduleHook, rolloutScheduleHook } from './rolloutSchedule.ts';

type Entry =
  | { name: string; subject: 'parent'; kinds: readonly string[]; hook: CompositeHook }
  | { name: string; subject: 'object'; kinds: readonly string[]; hook: DecoratorHook };

export const HOOKS: readonly Entry[] = [
  { name: 'rollout', subject: 'parent', kinds: ['Rollout'], hook: rolloutHook },
  { name: 'rollout-requests', subject: 'object', kinds: ['Rollout'], hook: rolloutRequestsHook },
  { name: 'rolloutgate', subject: 'object', kinds: ['RolloutGate'], hook: rolloutGateHook },
  { name: 'healthcheck', subject: 'object', kinds: ['HealthCheck'], hook: healthCheckHook },
  { name: 'rolloutschedule', subject: 'parent', kinds: ['RolloutSchedule'], hook: rolloutScheduleHook },
  {
    name: 'clusterrolloutschedule',
    subject: 'parent',
    kinds: ['ClusterRolloutSchedule'],
    hook: clusterRolloutScheduleHook,
  },
  { name: 'gate', subject: 'parent', kinds: ['Gate'], hook: gateHook },
  { name: 'fluxbinding', subject: 'parent', kinds: ['FluxBinding'], hook: fluxBindingHook },
  { name: 'flux', subject: 'object', kinds: GOVERNED_KINDS.map(({ kind }) => kind), hook: fluxHook },
];

/** `callOf` is asked once per request, with the hook's name: it takes the time. */
export function hookRoutes(callOf: (hook: string) => HookCall): Route[] {
  return HOOKS.flatMap((entry) => {
    const call = () => callOf(entry.name);
    const check = envelopeCheck(entry.subject, entry.kinds);
    const { customize } = entry.hook;
    const routes: Route[] = [
      {
        path: `/hooks/${entry.name}/sync`,
        async answer(body) {
          check(body);
          return boundedResync(
            entry.subject === 'parent'
              ? await entry.hook.sync(body as CompositeRequest, call())
              : await entry.hook.sync(body as DecoratorRequest, call()),
          );
        },
      },
    ];
    if (customize) {
      // A customize request calls the object `parent`, for decorators too.
      const checkParent = envelopeCheck('parent', entry.kinds);
      routes.push({
        path: `/hooks/${entry.name}/customize`,
        async answer(body) {
          checkParent(body);
          return customize(body as CustomizeRequest, call());
        },
      });
    }
    return routes;
  });
}
