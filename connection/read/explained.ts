/** Explains an object: reads the inputs of its explanation. */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { FLUX_BINDINGS, governedKindOf, KINDS, NAMESPACES, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { Budget, FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { rolloutActions } from '../../client/actions/rolloutActions.ts';
import { type Application, type Cause, causeIf } from '../../client/explain/application.ts';
import { explainFluxObject } from '../../client/explain/kinds/explainFluxObject.ts';
import { explainGate, explainRolloutGate } from '../../client/explain/kinds/explainGates.ts';
import {
  explainBudget,
  explainByConditions,
  explainHealthCheck,
  slotCauses,
} from '../../client/explain/kinds/explainOthers.ts';
import { type Explanation, explanationOf } from '../../client/explain/kinds/explanation.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { nextDeployment } from '../../client/explain/rollout/gateSteps.ts';
import { undiscoveredText } from '../../client/explain/staleStatus.ts';
import type { NextDeployment } from '../../core/gate/gateApprovals.ts';
import { ANY_REF } from '../../core/gate/gateRefs.ts';
import { gateSelects, reachesBeyond, selectingGateLists } from '../../core/gate/gateSelection.ts';
import { needsNamespaceLabels } from '../../core/health/association.ts';
import { groupOf, identityOf, objectName, refKey, uniqueRefs } from '../../core/kube/names.ts';
import { rolloutsOfObject } from '../../core/managedField/managedFields.ts';
import { recordedRefs } from '../../core/objectGates/objectGates.ts';
import { IMAGE_POLICY_NOT_FOUND } from '../../core/policy/imagePolicy.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { type KubeClient, unlessRefused } from '../kube/kubeClient.ts';
import { listInAnyVersion, type NamedTarget, readPolicy } from './namedObjects.ts';
import { optionalReader } from './optionalReads.ts';
import { readRelated } from './readRelated.ts';

/** `waiting`: the versions that a Gate holds now; absent: they are read, for a Gate with approvals. */
export async function explainObject(
  client: KubeClient,
  { kind, resource, object }: NamedTarget,
  now: EpochMs,
  waiting?: readonly NextDeployment[],
): Promise<Explanation> {
  const { namespace } = identityOf(object);
  switch (kind) {
    case 'Rollout': {
      const rollout = object as Rollout;
      const related = await readRelated(client, [rollout]);
      const app = explainRollout(rollout, related, now);
      const found = explanationOf(app, rolloutActions(rollout, app, related, now));
      const more = await Promise.all([
        readSlots(client, rollout, app),
        readPolicies(client, rollout),
        readUndiscovered(client, rollout, now),
      ]);
      return { ...found, causes: [...found.causes, ...more.flat()] };
    }
    case 'Gate':
      return explainGate(object as Gate, now, waiting ?? (await readWaiting(client, object as Gate)));
    case 'RolloutGate': {
      const gate = object as RolloutGate;
      const name = gate.spec?.rolloutRef.name ?? '';
      return explainRolloutGate(gate, await readable(client.get<Rollout>({ ...ROLLOUTS, namespace, name })), now);
    }
    case 'HealthCheck': {
      const rollouts = (await readable(client.list<Rollout>({ ...ROLLOUTS, namespace }))) ?? [];
      const home = needsNamespaceLabels(rollouts)
        ? await readable(client.get<KubeObject>({ ...NAMESPACES, name: namespace }))
        : undefined;
      return explainHealthCheck(object as HealthCheck, rollouts, home?.metadata.labels);
    }
    case 'RolloutBudget':
    case 'ClusterRolloutBudget':
      return explainBudget(object as Budget);
    case 'FluxBinding':
      return explainBinding(client, object as FluxBinding, now);
    default:
      if (governedKindOf(groupOf(object.apiVersion), object.kind))
        return explainFlux(client, object as FluxObject, now);
      return explainByConditions(object, resource);
  }
}

/** The versions that wait for approvals at the Gate, in all namespaces that the user may read. */
async function readWaiting(client: KubeClient, gate: Gate): Promise<NextDeployment[]> {
  if (!gate.spec.approvals) return [];
  const { namespace, name } = identityOf(gate);
  const key = refKey({ namespace, name });
  const all =
    (await readable(client.list<Rollout>(ROLLOUTS))) ??
    (await readable(client.list<Rollout>({ ...ROLLOUTS, namespace })));
  return (all ?? []).flatMap((rollout) => {
    const { pendingVersion, gates } = rollout.status ?? {};
    const isHeld = gates?.some((each) => each.kind === 'Gate' && each.name === key && each.passing === false);
    return isHeld && pendingVersion !== undefined ? [nextDeployment(rollout, pendingVersion)] : [];
  });
}

/** Causes for a version that waits for a slot: the Rollouts that have the slots, and those that earlier waves lack. */
async function readSlots(client: KubeClient, { status }: Rollout, { steps, waiting }: Application): Promise<Cause[]> {
  const objects = steps.flatMap(({ kind, state, object }) =>
    kind === 'budget' && state !== 'passed' && object ? [object] : [],
  );
  const budgets = await Promise.all(
    objects.map(({ kind, namespace, name }) => {
      const row = KINDS[kind as 'RolloutBudget' | 'ClusterRolloutBudget'];
      return readable(client.get<Budget>({ ...resourceOf(row), namespace: namespace || undefined, name }));
    }),
  );
  return budgets.flatMap((budget) => (budget && waiting ? slotCauses(budget, waiting.version, status?.image) : []));
}

/** The ImagePolicies to choose from, for a Rollout whose own does not exist. */
async function readPolicies(client: KubeClient, { status }: Rollout): Promise<Cause[]> {
  const ref = status?.blockers?.find(({ reason }) => reason === IMAGE_POLICY_NOT_FOUND)?.object;
  if (!ref) return [];
  const policies = await readable(listInAnyVersion<ImagePolicy>(client, 'ImagePolicy', ref.namespace));
  const names = policies?.map(({ metadata }) => metadata.name ?? '');
  if (!names || names.includes(ref.name)) return [];
  const text =
    names.length > 0
      ? `Namespace ${ref.namespace} has the ImagePolicies ${firstFew(names, 8)}: correct spec.releasesImagePolicy, or create ${ref.name}`
      : `Namespace ${ref.namespace} has no ImagePolicy: create ${ref.name}`;
  return [{ code: 'ImagePolicies', text }];
}

/** The cause for a tag that the ImagePolicy has selected and no hook has read. */
async function readUndiscovered(client: KubeClient, rollout: Rollout, now: EpochMs): Promise<Cause[]> {
  const text = undiscoveredText(rollout, await readPolicy(client, rollout), now);
  return causeIf(
    'NotDiscovered',
    text && `${text}: that takes seconds. If it lasts, the command doctor finds the cause`,
  );
}

async function explainBinding(client: KubeClient, binding: FluxBinding, now: EpochMs): Promise<Explanation> {
  const { apiVersion, kind, name } = binding.spec?.target ?? { apiVersion: '', kind: '', name: '' };
  const { namespace } = identityOf(binding);
  const row = governedKindOf(groupOf(apiVersion), kind);
  const resources = row ? await client.resources(apiVersion) : [];
  const resource = resources.find((each) => each.kind === kind)?.name;
  const object = resource && (await readable(client.get<FluxObject>({ apiVersion, resource, namespace, name })));
  return object ? explainFlux(client, object, now, binding) : explainByConditions(binding, FLUX_BINDINGS.resource);
}

async function explainFlux(
  client: KubeClient,
  object: FluxObject,
  now: EpochMs,
  known?: FluxBinding,
): Promise<Explanation> {
  const { namespace, name } = identityOf(object);
  const { unread, get } = optionalReader(client);
  const [binding, recorded, selecting, bound] = await Promise.all([
    known ?? readable(client.get<FluxBinding>({ ...FLUX_BINDINGS, namespace, name: objectName(object.kind, name) })),
    Promise.all(recordedRefs(object, ANY_REF).map((ref) => get<Gate>('Gate', ref))),
    readSelecting(client, object),
    Promise.all(
      rolloutsOfObject(object).map((name) => readable(client.get<Rollout>({ ...ROLLOUTS, namespace, name }))),
    ),
  ]);
  const rollouts = bound.flatMap((rollout) => rollout ?? []);
  const gates = [...recorded.flatMap((gate) => gate ?? []), ...selecting];
  return explainFluxObject(
    object,
    { binding, gates, selecting: uniqueRefs(selecting.map(identityOf)), rollouts, unread },
    now,
  );
}

/** The Gates that select the object now, as far as the user may read them. */
async function readSelecting(client: KubeClient, object: FluxObject): Promise<Gate[]> {
  const { namespace } = identityOf(object);
  const lists = selectingGateLists(namespace).map(async (list) => (await readable(client.list<Gate>(list))) ?? []);
  const gates = (await Promise.all(lists)).flat();
  const isWide = gates.some(({ spec }) => reachesBeyond(spec?.selects));
  const found = isWide ? await readable(client.get<KubeObject>({ ...NAMESPACES, name: namespace })) : undefined;
  return gates.filter((gate) => gateSelects(gate, object, found?.metadata.labels ?? {}));
}

/** The result of the read; undefined if the user can't read the object or it does not exist. */
const readable = <T>(read: Promise<T>) => unlessRefused(read, 403, 404);
