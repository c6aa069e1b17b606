/** Composite of FluxBindings: what the Rollouts and Gates of one Flux object say now, and whether the object has it. */
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS, KUSTOMIZATIONS, ROLLOUTS } from '../../api/kinds.ts';
import type { CompositeResponse, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { FluxBinding, FluxBindingSpec, Gate, Rollout } from '../../api/types.ts';
import { gateEntries, judgedGates } from '../../core/binding/gates.ts';
import { toldLater } from '../../core/binding/later.ts';
import { sentOf } from '../../core/binding/seen.ts';
import { bindingStatus, type RelatedToBinding } from '../../core/binding/status.ts';
import { isTooMany } from '../../core/gate/refs.ts';
import { groupOf } from '../../core/kube/names.ts';
import { objectAt, objectsOf } from '../../core/kube/objectMap.ts';
import { sourceResource } from '../../core/pin/source.ts';
import { passageEnds } from '../../core/suspend/passage.ts';
import type { CompositeHook } from '../hook.ts';
import { namedRules } from '../namedRules.ts';

export const fluxBindingHook: CompositeHook = {
  async customize({ parent }, call) {
    const { spec, metadata } = parent as FluxBinding;
    const relatedResources: RelatedResourceRule[] = [];
    const rollouts = [...new Set((spec?.pins ?? []).map((pin) => pin.rollout))];
    if (rollouts.length > 0) {
      const namespace = metadata.namespace ?? '';
      relatedResources.push({ ...ROLLOUTS, namespace, names: rollouts });
    }
    relatedResources.push(
      ...namedRules(
        GATES,
        (spec?.gates ?? []).filter((gate) => !isTooMany(gate)),
      ),
    );
    const source = spec?.source && sourceRule(spec.source);
    // A rule for a kind that is not served would fail every sync of this binding.
    if (source && (await call.cluster.serves(source))) relatedResources.push(source);
    if (spec?.awaits && (await call.cluster.serves(KUSTOMIZATIONS))) {
      relatedResources.push({ ...KUSTOMIZATIONS, namespace: spec.awaits.namespace, names: [spec.awaits.name] });
    }
    return { relatedResources };
  },

  async sync({ parent, related }, { now }) {
    const binding = parent as FluxBinding;
    const rollouts = objectsOf<Rollout>(related, KINDS.Rollout);
    const sent = sentOf(rollouts, objectsOf<Gate>(related, KINDS.Gate));
    const gates = judgedGates(binding, sent.gates, now);
    const { source, awaits } = binding.spec ?? {};
    const about: RelatedToBinding = {
      rollouts: sent.rollouts,
      source:
        source &&
        objectAt<FluxObject>(
          related,
          { group: groupOf(source.apiVersion), kind: source.kind },
          source.namespace,
          source.name,
        ),
      applier: awaits && objectAt<FluxObject>(related, KINDS.Kustomization, awaits.namespace, awaits.name),
      gates: gateEntries(gates, binding),
    };
    const ends = rollouts.flatMap((rollout) => passageEnds(rollout) ?? []).filter((end) => end > now);
    const edges = [...gates.flatMap((gate) => gate.until ?? []), ...ends];
    const status = bindingStatus(binding, about, now);
    const later = toldLater(binding, status, sent, now);
    const looks = [
      // A Gate's own status triggers a sync of this binding at an edge; this is for when that comes late.
      ...(edges.length > 0 ? [Math.max(1, (Math.min(...edges) - now) / 1000 + 0.5)] : []),
      ...(later === undefined ? [] : [later]),
    ];
    const answer: CompositeResponse = { status: later === undefined ? status : binding.status, children: [] };
    if (looks.length > 0) answer.resyncAfterSeconds = Math.min(...looks);
    return answer;
  },
};

function sourceRule(source: NonNullable<FluxBindingSpec['source']>): RelatedResourceRule | undefined {
  const resource = sourceResource(source);
  if (!resource) return undefined;
  return { apiVersion: source.apiVersion, resource, namespace: source.namespace, names: [source.name] };
}
