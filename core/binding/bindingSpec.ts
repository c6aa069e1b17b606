/** The FluxBinding of one Flux object: its Rollouts, the Gates that it requires, and the observed deployments. */
import { BOUND_LABEL_SUFFIX, RESUME_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { FluxBinding, FluxBindingSpec } from '../../api/types.ts';
import { objectName, shortHash } from '../kube/names.ts';
import { managedFieldsOf } from '../managedField/managedFields.ts';
import { sourceOf } from '../managedField/source.ts';
import { awaitedApply, resumeLabel } from '../suspension/applier.ts';
import { observedOf } from './appliedDeployment.ts';

/** The Gates that the object requires, in the form of the spec. */
export interface BindingGates {
  gates: NonNullable<FluxBindingSpec['gates']>;
  problems: string[];
}

export function bindingName(object: FluxObject): string {
  return objectName(object.kind, object.metadata.name ?? '');
}

/**
 * The FluxBinding of the object; undefined for an object that tracks no Rollout, requires no Gate, has no problem, and
 * waits for no applier.
 * @param mayRequest whether it may request an apply of its applier
 */
export function makeBinding(
  object: FluxObject,
  { gates, problems: gateProblems }: BindingGates,
  before: FluxBinding | undefined,
  mayRequest = true,
): FluxBinding | undefined {
  const { fields: own, tracks, problems: fieldProblems } = managedFieldsOf(object);
  const fields = tracks === undefined ? own : [{ rollout: tracks }];
  const problems = [...fieldProblems, ...gateProblems];
  const awaits = awaitedApply(object);
  if (fields.length === 0 && gates.length === 0 && problems.length === 0 && !awaits) return undefined;
  const source = fields.length > 0 ? sourceOf(object) : undefined;
  const observed = fields.length > 0 ? observedOf(object, before) : {};
  const spec: FluxBindingSpec = {
    target: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: object.metadata.name ?? '',
      uid: object.metadata.uid ?? '',
    },
    ...(fields.length > 0 && { fields }),
    ...(gates.length > 0 && { gates }),
    ...(problems.length > 0 && { problems }),
    ...(source && { source }),
    ...(awaits && { awaits }),
    // An empty map would be written again at every sync (docs/facts.md, M10).
    ...(Object.keys(observed).length > 0 && { observed }),
  };
  const labels = Object.fromEntries(fields.map((field) => [boundLabel(field.rollout), '']));
  if (awaits && mayRequest) labels[RESUME_LABEL] = resumeLabel(awaits);
  return {
    apiVersion: apiVersionOf(KINDS.FluxBinding),
    kind: 'FluxBinding',
    metadata: {
      name: bindingName(object),
      namespace: object.metadata.namespace ?? '',
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec,
  };
}

/** Kubernetes' limit for the part of a label's key before the slash, in characters. */
const MAX_LABEL_PREFIX = 253;

/** The key of the label that a FluxBinding has for each of its Rollouts. The value is empty. */
export function boundLabel(rollout: string): string {
  const [prefix = ''] = BOUND_LABEL_SUFFIX.split('/');
  const isLegal = rollout.length + 1 + prefix.length <= MAX_LABEL_PREFIX;
  return `${isLegal ? rollout : shortHash(rollout)}.${BOUND_LABEL_SUFFIX}`;
}
