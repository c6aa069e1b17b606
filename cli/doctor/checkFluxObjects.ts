/**
 * Checks Flux objects: Rollouts that none of them is bound to, annotations without effect (also of Rollouts and Gates),
 * versions that an apply would reset without admission, and Kustomizations that fail because of closed Gates.
 */
import type { FluxObject } from '../../api/flux.ts';
import { GOVERNED_KINDS, KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { unknownAnnotations } from '../../core/admission/unknownAnnotations.ts';
import { parseInventory } from '../../core/health/objects/inventory.ts';
import { jsonPointer } from '../../core/kube/json.ts';
import { byRefKey, groupOf, identityOf, refKey } from '../../core/kube/names.ts';
import { isApplyBy } from '../../core/kube/writers.ts';
import { isSetByGit } from '../../core/managedField/deployment.ts';
import { fieldPath, managedFieldsOf, rolloutsOfObject } from '../../core/managedField/managedFields.ts';
import { applierOf } from '../../core/suspension/applier.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { checkOf, type Found, fine, problem } from './finding.ts';

export const checkFluxObjects = checkOf('Flux objects', async ({ client, namespace, list, kind }) => {
  // Users without rights may not list a kind that is not served either.
  const hasProviders = (await client.resources(INPUT_PROVIDERS.apiVersion)).length > 0;
  const [rollouts, gates, rolloutGates, providers, ...lists] = await Promise.all([
    kind<Rollout>('Rollout'),
    kind<Gate>('Gate'),
    kind<RolloutGate>('RolloutGate'),
    hasProviders ? list<AnyObject>({ ...INPUT_PROVIDERS, namespace }) : [],
    ...GOVERNED_KINDS.map(({ kind: name }) => kind<FluxObject>(name)),
  ]);
  const ofKind = (name: KindName, found: readonly AnyObject[] = []) => found.map((each) => ({ ...each, kind: name }));
  const ours = [...ofKind('Rollout', rollouts), ...ofKind('RolloutGate', rolloutGates), ...ofKind('Gate', gates)];
  const objects = lists.flatMap((found, i) =>
    (found ?? []).map((each) => ({ ...each, kind: GOVERNED_KINDS[i]!.kind })),
  );
  const kustomizations = objects.filter(({ kind: each }) => each === KINDS.Kustomization.kind);
  const isRead = providers !== undefined && lists.every((found) => found !== undefined);
  return [
    ...(isRead ? unboundFindings(rollouts ?? [], objects, providers) : []),
    ...[...objects, ...ours].flatMap(unknownAnnotationFindings),
    ...managedFieldFindings(objects, kustomizations, rollouts),
    ...waitedGateFindings(kustomizations),
  ];
});

/** The kind of Flux Operator that may request the version of a Rollout (docs/resource-set-inputs.md). */
const INPUT_PROVIDERS = { apiVersion: 'fluxcd.controlplane.io/v1', resource: 'resourcesetinputproviders' };

/** Findings about Rollouts whose versions no Flux object, ConfigMap or input provider gets. */
export function unboundFindings(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  providers: readonly AnyObject[],
): Found[] {
  const bound = new Set(
    objects.flatMap((object) => rolloutsOfObject(object).map((name) => `${object.metadata.namespace}/${name}`)),
  );
  const urls = providers.map(({ spec }) => String(spec?.url ?? ''));
  const unbound = rollouts.filter(
    ({ metadata: { namespace, name }, spec }) =>
      !bound.has(`${namespace}/${name}`) &&
      !spec?.releaseConfigMap &&
      !urls.some((url) => url.endsWith(`/inputs/${namespace}/${name}`)),
  );
  if (unbound.length === 0) return [];
  const names = firstFew(unbound.map((each) => refKey(identityOf(each))));
  const text = `No Flux object is bound to these Rollouts, so none gets their versions: ${names}`;
  return [problem(text, 'annotate the object that gets the version: docs/rollouts.md, Bind Flux objects')];
}

function unknownAnnotationFindings(object: AnyObject): Found[] {
  const unknown = unknownAnnotations(object);
  if (unknown.length === 0) return [];
  const { kind, metadata } = object;
  const text = `${kind} ${metadata.namespace}/${metadata.name} has annotations that have no effect: ${firstFew(unknown, 3)}`;
  return [{ about: 'Annotations', ...problem(text, 'correct or remove them: docs/reference/annotations.md') }];
}

interface IgnoreRule {
  paths?: string[];
  target?: Partial<Record<'group' | 'kind' | 'namespace' | 'name' | 'labelSelector' | 'annotationSelector', string>>;
}

/** The field manager of Flux's applies. */
const FLUX_MANAGER = 'kustomize-controller';

/**
 * Findings about managed fields that an apply sets too: the applied version would come back if admission were removed.
 * Not if Flux ignores the field (Flux 2.9, docs/adopt.md), which it must not do with spec.writeBack.
 */
export function managedFieldFindings(
  objects: readonly FluxObject[],
  kustomizations: readonly FluxObject[],
  rollouts: readonly Rollout[] = [],
): Found[] {
  const appliers = byRefKey(kustomizations);
  const writingBack = new Set(rollouts.filter(isSetByGit).map((each) => refKey(identityOf(each))));
  const fields = objects.flatMap((object) => {
    const ref = applierOf(object);
    const applier = ref && appliers.get(refKey(ref));
    const rules = ((applier?.spec as { ignore?: IgnoreRule[] } | undefined)?.ignore ?? []).filter(appliesTo(object));
    const ignored = new Set(rules.flatMap(({ paths = [] }) => paths));
    return managedFieldsOf(object).fields.map((field) => {
      const isIgnored = ignored.has(jsonPointer(fieldPath(field)));
      const managers = applyManagers(object, fieldPath(field));
      return {
        name: `${object.kind} ${refKey(identityOf(object))}`,
        applier: ref && refKey(ref),
        isIgnored,
        // Whether Flux ignores the field is unknown if the user checks another namespace than the applier's.
        managers: managers.filter((manager) => manager !== FLUX_MANAGER || (applier && !isIgnored)),
        isOfGit: writingBack.has(refKey({ namespace: object.metadata.namespace ?? '', name: field.rollout })),
      };
    });
  });
  const blocked = fields.filter(({ isOfGit, isIgnored }) => isOfGit && isIgnored);
  return [
    ...blocked.map(({ name, applier }) => {
      const text = `${name} gets its version from Git (spec.writeBack), but spec.ignore of Kustomization ${applier} keeps the old one`;
      return problem(text, 'remove the path of the version from spec.ignore');
    }),
    ...resetFinding(fields.filter(({ isOfGit }) => !isOfGit)),
  ];
}

/** The managers whose server-side apply sets the field. */
function applyManagers(object: FluxObject, path: readonly string[]): string[] {
  const applied = (object.metadata.managedFields ?? []).filter(({ operation }) => operation === 'Apply');
  const managers = new Set(applied.map(({ manager = '' }) => manager));
  return [...managers].filter((manager) => isApplyBy(manager, object, path));
}

function resetFinding(fields: readonly { name: string; managers: readonly string[] }[]): Found[] {
  if (fields.length === 0) return [];
  const reset = fields.filter(({ managers }) => managers.length > 0);
  if (reset.length === 0) return [fine('no version would be reset if admission were removed')];
  const names = [...new Set(reset.map(({ name, managers }) => `${name} (${managers.join(', ')})`))];
  const all = new Set(fields.map(({ name }) => name)).size;
  const what = `${names.length} of ${all} objects would get the version of an apply if admission were removed`;
  const help = 'to prevent that, remove the value from the manifest, or set spec.ignore (docs/adopt.md)';
  return [fine(`${what}: ${firstFew(names)}; ${help}`)];
}

/** Whether a rule applies to the object. Patterns and selectors, which only Flux evaluates, count as a match. */
function appliesTo({ apiVersion, kind, metadata }: FluxObject): (rule: IgnoreRule) => boolean {
  const about = { group: groupOf(apiVersion), kind, namespace: metadata.namespace, name: metadata.name };
  return ({ target = {} }) =>
    (['group', 'kind', 'namespace', 'name'] as const).every((key) => {
      const wanted = target[key];
      return !wanted || wanted === about[key] || /[^a-zA-Z0-9.-]/.test(wanted);
    });
}

const GATES = new Set([KINDS.Gate, KINDS.RolloutGate].map(({ group, kind }) => `${group}/${kind}`));

interface WaitingSpec {
  wait?: boolean;
  healthCheckExprs?: { apiVersion?: string; kind?: string }[];
}

const kindKey = ({ apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string }) =>
  `${groupOf(apiVersion)}/${kind}`;

/** Findings about Kustomizations that wait for Gates which they apply: a closed one makes them fail. */
export function waitedGateFindings(kustomizations: readonly FluxObject[]): Found[] {
  return kustomizations.flatMap(({ metadata, spec, status }) => {
    const { wait, healthCheckExprs = [] } = (spec ?? {}) as WaitingSpec;
    if (!wait) return [];
    const evaluated = new Set(healthCheckExprs.map(kindKey));
    const { entries } = (status as { inventory?: { entries?: unknown } } | undefined)?.inventory ?? {};
    const { resources } = parseInventory(entries);
    const waited = resources.filter((each) => GATES.has(kindKey(each)) && !evaluated.has(kindKey(each)));
    if (waited.length === 0) return [];
    const names = firstFew(waited.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`));
    const what = `Kustomization ${metadata.namespace}/${metadata.name} has wait: true and applies ${names}`;
    const text = `${what}: while one is closed, Flux reports the Kustomization as failed`;
    return { about: 'Gates', ...problem(text, 'add the healthCheckExprs of docs/depend-on-a-gate.md') };
  });
}
