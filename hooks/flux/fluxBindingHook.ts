/**
 * CompositeController `fluxbindings`: the status of a FluxBinding, which reports what the Rollouts and Gates of its
 * object require now, and whether the object complies.
 */
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { FluxBinding, FluxBindingSpec, Gate, Rollout } from '../../api/types.ts';
import { reportInputsOf, reportOf, rolloutsOfBinding } from '../../core/binding/bindingSpec.ts';
import { atomicUpdateOf, bindingStatus } from '../../core/binding/bindingStatus.ts';
import { requiredByBinding } from '../../core/gate/closedGates.ts';
import { groupOf } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { sourceResource } from '../../core/managedField/source.ts';
import { namedRules } from '../customizeRules.ts';
import { type CompositeHook, resyncAfter } from '../hook.ts';

export const fluxBindingHook: CompositeHook<FluxBinding> = {
  async customize({ parent: { spec, metadata } }, call) {
    const relatedResources: RelatedResourceRule[] = [];
    // If the object's decorator reports, related objects would only cause needless syncs.
    if (!spec?.report) {
      const { namespace = '' } = metadata;
      const rollouts = rolloutsOfBinding(spec).map((name) => ({ namespace, name }));
      relatedResources.push(...namedRules(ROLLOUTS, rollouts));
      relatedResources.push(...namedRules(GATES, requiredByBinding(spec).refs));
    }
    const source = spec?.source && sourceRule(spec.source);
    // A rule for a kind that isn't served would fail every sync of this binding.
    if (source && (await call.cluster.serves(source))) relatedResources.push(source);
    if (spec?.awaits && (await call.cluster.serves(KUSTOMIZATIONS))) {
      relatedResources.push({ ...KUSTOMIZATIONS, namespace: spec.awaits.namespace, names: [spec.awaits.name] });
    }
    return { relatedResources };
  },

  async sync({ parent: binding, related }, { now }) {
    const { source: sourceRef, awaits } = binding.spec ?? {};
    const source =
      sourceRef &&
      objectAt<FluxObject>(
        related,
        { group: groupOf(sourceRef.apiVersion), kind: sourceRef.kind },
        sourceRef.namespace,
        sourceRef.name,
      );
    const applier = awaits && objectAt<FluxObject>(related, KINDS.Kustomization, awaits.namespace, awaits.name);
    const written = binding.spec?.report;
    const inputs = reportInputsOf(objectsOf<Rollout>(related, KINDS.Rollout), objectsOf<Gate>(related, KINDS.Gate));
    const { report, requeueAt } = written ? { report: written, requeueAt: undefined } : reportOf(binding, inputs, now);
    const atomic = written ? undefined : atomicUpdateOf(binding, inputs.rollouts, source);
    return {
      status: bindingStatus(binding, { report, atomic, source, applier }, now),
      children: [],
      // Normally the Gate's status change triggers the sync; this one is the fallback.
      ...resyncAfter([requeueAt && secondsUntil(requeueAt, now)]),
    };
  },
};

function sourceRule(source: NonNullable<FluxBindingSpec['source']>): RelatedResourceRule | undefined {
  const resource = sourceResource(source);
  if (!resource) return undefined;
  return { apiVersion: source.apiVersion, resource, namespace: source.namespace, names: [source.name] };
}
