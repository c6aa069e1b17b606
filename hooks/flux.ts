/** Decorator of every governed Flux kind: publishes what the object asks for as its FluxBinding, and triggers the webhook. */
import { DEPLOYED, GATE_STATE, RECONCILE_REQUESTED_AT, RESUME_LABEL, SELECTS_LABEL } from '../api/annotations.ts';
import type { FluxObject } from '../api/flux.ts';
import { FLUX_BINDINGS, KINDS } from '../api/kinds.ts';
import type { DecoratorRequest, DecoratorResponse, RelatedResourceRule } from '../api/metacontroller.ts';
import type { FluxBinding, Gate } from '../api/types.ts';
import { bindingName, bindingOf } from '../core/binding/spec.ts';
import { artifactTrigger, deploymentTrigger } from '../core/binding/trigger.ts';
import { selectingGateRules } from '../core/gate/selects.ts';
import { withGateCondition } from '../core/hold/conditions.ts';
import { gateAnnotations, gatingOf } from '../core/hold/decorate.ts';
import { objectAt, objectsOf } from '../core/kube/objectMap.ts';
import { reconcileRequest } from '../core/suspend/reconcileRequest.ts';
import { currentAwaits, mayApplyFluxObjects, resumedAloneAt, resumeLabel } from '../core/suspend/resume.ts';
import { homeLabels, homeRules } from './home.ts';
import type { DecoratorHook } from './hook.ts';

export const fluxHook: DecoratorHook = {
  /** The answer is cached by generation, so the rules that matter are the same for every object. */
  async customize({ parent }, { cluster }) {
    const { namespace = '', name = '' } = parent.metadata;
    const relatedResources: RelatedResourceRule[] = [
      ...selectingGateRules(namespace, SELECTS_LABEL),
      ...(await homeRules(namespace, SELECTS_LABEL, cluster)),
    ];
    if (mayApplyFluxObjects(parent)) {
      const waiting = { matchLabels: { [RESUME_LABEL]: resumeLabel({ namespace, name }) } };
      relatedResources.push({ ...FLUX_BINDINGS, labelSelector: waiting });
    }
    return { relatedResources };
  },

  async sync(request, { now, settings, cluster }) {
    const { object, attachments, related } = request as DecoratorRequest<FluxObject>;
    const { namespace } = object.metadata;
    const observed = objectAt<FluxBinding>(attachments, KINDS.FluxBinding, namespace, bindingName(object));
    const selectors = objectsOf<Gate>(related, KINDS.Gate);
    const labels = await homeLabels(namespace ?? '', related, selectors, cluster);
    const gating = gatingOf(object, selectors, labels, observed?.status, now, {
      ownNamespaceOnly: settings.noCrossNamespaceRefs,
    });

    const binding = bindingOf(object, gating, observed);
    const answer: DecoratorResponse = { attachments: binding ? [binding] : [] };
    if (object.metadata.deletionTimestamp) return answer;

    const annotations = gateAnnotations(object, gating, observed?.status, now);
    const deployed = deploymentTrigger(object, observed?.status);
    if (deployed !== undefined) annotations[DEPLOYED] = deployed;
    Object.assign(annotations, artifactTrigger(object, observed?.status));
    const asked = reconcileRequest(object, objectsOf<FluxBinding>(related, KINDS.FluxBinding), now);
    if (asked !== undefined) annotations[RECONCILE_REQUESTED_AT] = asked;

    const awaits = currentAwaits(object, observed?.status);
    const isGated = gating.gates.length > 0;
    const closed = isGated ? gating.closed : undefined;
    // First the hold, then what is said of it: a status written first costs each object of a freeze a write before it is suspended.
    const changesHold = annotations[GATE_STATE] !== undefined;
    const knows = !isGated || closed !== undefined;
    const status = knows && !changesHold ? withGateCondition(object, closed, now, awaits, gating.closings) : undefined;
    if (Object.keys(annotations).length > 0) answer.annotations = annotations;
    if (status) answer.status = status;
    const end = resumedAloneAt(awaits);
    // Metacontroller swallows a conflict of either write: look again soon.
    if (answer.annotations || answer.status) answer.resyncAfterSeconds = 1;
    else if (end !== undefined) answer.resyncAfterSeconds = Math.max(0, end - now) / 1000 + 1;
    return answer;
  },
};
