/** Checks Metacontroller (its version and flags, our controllers, that it reconciles) and the hook server. */
import { setTimeout as wait } from 'node:timers/promises';
import { coerce, lt } from 'semver';
import type { ImagePolicy } from '../../api/flux.ts';
import { CONTROLLERS } from '../../api/generated/installed.ts';
import { KINDS } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { isLongSelected, staleText, undiscoveredText } from '../../client/explain/staleStatus.ts';
import { byRefKey, identityOf, refKey } from '../../core/kube/names.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import {
  type CheckInputs,
  checkOf,
  type Found,
  findingsOrFine,
  fine,
  notChecked,
  problem,
  problemIf,
  type Reads,
  readsOf,
} from './finding.ts';

const ABOUT = 'Metacontroller';
const METACONTROLLER = 'metacontroller.k8s.io/v1alpha1';

/** The flag that limits a Metacontroller to controllers with these labels. */
const SELECTOR_FLAG = /^--target-label-selector=(.*)/;
const EXPECTED_FLAGS = ['--client-go-qps', '--client-go-burst', '--workers'];
/** The oldest version in docs/install.md, *Requirements*: test/manifests/doctor.test.ts compares them. */
export const OLDEST_METACONTROLLER = '4.17.2';

interface Workload extends AnyObject {
  spec: {
    replicas?: number;
    template: {
      spec: {
        serviceAccountName?: string;
        containers: { image?: string; args?: string[]; env?: { name: string; value?: string }[] }[];
      };
    };
  };
}

const containersOf = ({ spec }: Workload) => spec.template.spec.containers;
const runsMetacontroller = ({ image }: { image?: string }) => image?.includes('metacontroller') ?? false;

/** The user name of the workload's ServiceAccount. */
function accountOf({ metadata, spec }: Workload): string {
  return `system:serviceaccount:${metadata.namespace}:${spec.template.spec.serviceAccountName ?? 'default'}`;
}

const isServer = ({ metadata }: Workload) =>
  metadata.namespace === 'rollout-hooks' && metadata.name === 'rollout-hooks';
const envOf = (workload: Workload) => containersOf(workload).flatMap(({ env }) => env ?? []);
/** The user whose writes the hook server takes for Metacontroller's. */
const trustedUser = (server: Workload) => envOf(server).find(({ name }) => name === 'METACONTROLLER_USER')?.value;

/**
 * The Deployments or StatefulSets of Metacontroller; empty if none can be found. Other products may bring one of their
 * own: ours are those whose account the hook server trusts.
 */
async function findMetacontrollers({ list }: Pick<Reads, 'list'>): Promise<Workload[]> {
  const kinds = ['statefulsets', 'deployments'].map((resource) => list<Workload>({ apiVersion: 'apps/v1', resource }));
  const workloads = (await Promise.all(kinds)).flatMap((found) => found ?? []);
  const found = workloads.filter((workload) => containersOf(workload).some(runsMetacontroller));
  const server = workloads.find(isServer);
  const trusted = found.filter((workload) => server && accountOf(workload) === trustedUser(server));
  return trusted.length > 0 ? trusted : found;
}

/** The user name of Metacontroller's ServiceAccount; undefined if its Deployment or StatefulSet can't be found. */
export async function metacontrollerUser(inputs: CheckInputs): Promise<string | undefined> {
  const [found] = await findMetacontrollers(readsOf(inputs));
  return found && accountOf(found);
}

/** Whether the tag of the image is that of a version before the oldest one; a tag without a version isn't. */
export function isTooOld(image: string): boolean {
  const version = coerce(/:(v?\d+\.\d+[^@/]*)(?:@|$)/.exec(image)?.[1]);
  return version !== null && lt(version, OLDEST_METACONTROLLER);
}

export const checkMetacontroller = checkOf(ABOUT, async ({ list, unread }) => {
  const [workload] = await findMetacontrollers({ list });
  const container = workload && containersOf(workload).find(runsMetacontroller);
  if (!container) return unread.size > 0 ? [] : [notChecked('no Deployment or StatefulSet of this cluster runs it')];
  const { image = '', args = [] } = container;
  const missing = EXPECTED_FLAGS.filter((flag) => !args.some((arg) => arg.startsWith(flag)));
  const slow = `It runs without ${missing.join(', ')}: it is limited to about one release every two seconds`;
  const { readyReplicas = 0 } = (workload.status ?? {}) as { readyReplicas?: number };
  const stopped = 'None of its replicas is ready: nothing is deployed, and no Gate suspends or resumes its objects';
  const showPods = `kubectl -n ${workload.metadata.namespace} get pods`;
  const old = `${image} is older than ${OLDEST_METACONTROLLER}`;
  const problems = [
    ...problemIf(readyReplicas === 0, stopped, 'look at its Pods and its log', showPods),
    ...problemIf(isTooOld(image), old, 'upgrade it: docs/install.md, Requirements'),
    ...problemIf(missing.length > 0, slow, 'set these flags: manifests/metacontroller/README.md'),
  ];
  return findingsOrFine(problems, `${image}, with its flags`);
});

export const checkControllers = checkOf(ABOUT, async ({ client, list, unread }) => {
  if ((await client.resources(METACONTROLLER)).length === 0) {
    const text = 'It is not installed: the API server does not serve its kinds, and nothing is reconciled';
    return [problem(text, 'install it, then apply our manifests again: docs/install.md')];
  }
  const selectors = controllerSelectors(await findMetacontrollers({ list }));
  const findings: Found[] = [];
  for (const [resource, names] of Object.entries(CONTROLLERS)) {
    const named = async (labelSelector?: string) => {
      const found = await list({ apiVersion: METACONTROLLER, resource, ...(labelSelector && { labelSelector }) });
      return found?.map(({ metadata }) => metadata.name ?? '');
    };
    const existing = await named();
    if (!existing) continue;
    const missing = names.filter((name) => !existing.includes(name)).join(', ');
    const text = `The ${resource} ${missing} do not exist: nothing reconciles their objects`;
    const apply = 'kubectl apply --server-side -k manifests/controllers';
    findings.push(...problemIf(missing !== '', text, 'apply them again', apply));
    if (selectors.length === 0) continue;
    const selected = (await Promise.all(selectors.map(named))).flatMap((each) => each ?? []);
    const skipped = existing.filter((name) => names.includes(name) && !selected.includes(name)).join(', ');
    const unselected = `No --target-label-selector of Metacontroller selects the ${resource} ${skipped}: nothing reconciles their objects`;
    const fix = 'label them, or change the flag: docs/scale.md, Several Metacontrollers';
    findings.push(...problemIf(skipped !== '', unselected, fix));
  }
  return unread.size > 0 ? findings : findingsOrFine(findings, 'the controllers of rollout-hooks are registered');
});

/** The labels that each Metacontroller's controllers need, as a selector; '' without the flag. */
function controllerSelectors(workloads: readonly Workload[]): string[] {
  return workloads.map((workload) => {
    const args = containersOf(workload).flatMap(({ args = [] }) => args);
    return args.flatMap((arg) => SELECTOR_FLAG.exec(arg)?.[1] ?? [])[0] ?? '';
  });
}

/** The time until the second read: a status may be behind for a moment. */
const SECOND_READ_MS = 3000;

export const checkAwake = checkOf(ABOUT, async ({ kind, now, signal }) => {
  const readBehind = async () => {
    const [policies = [], ...lists] = await Promise.all([
      kind<ImagePolicy>('ImagePolicy'),
      kind('Rollout'),
      kind('Gate'),
    ]);
    if (lists.every((list) => list === undefined)) return undefined;
    return objectsBehind(
      lists.flatMap((list) => list ?? []),
      now(),
      policies,
    );
  };
  const first = await readBehind();
  if (!first) return [];
  if (first.length === 0) return [fine('every status is up to date')];
  await wait(SECOND_READ_MS, undefined, { signal });
  const second = new Set(await readBehind());
  const behind = first.filter((name) => second.has(name));
  if (behind.length === 0) return [fine('every status is up to date now')];
  const text = `It does not reconcile: the status of ${firstFew(behind, 3)} is out of date. Admission is not affected`;
  const fix = 'look at its Pods and its log: docs/install.md, Troubleshooting';
  return [problem(text, fix, 'kubectl -n metacontroller get pods')];
});

/** The objects whose status is out of date: `Rollout shop/checkout`. `policies`: the ImagePolicies, if known. */
export function objectsBehind(
  objects: readonly AnyObject[],
  now: EpochMs,
  policies: readonly ImagePolicy[] = [],
): string[] {
  const policiesByKey = byRefKey(policies.filter((policy) => isLongSelected(policy, now)));
  const lacksRelease = (rollout: Rollout) => {
    const ref = policyRef(rollout);
    return ref !== undefined && undiscoveredText(rollout, policiesByKey.get(refKey(ref)), now) !== undefined;
  };
  return objects
    .filter(
      (object) =>
        staleText(object, now) !== undefined || (object.kind === KINDS.Rollout.kind && lacksRelease(object as Rollout)),
    )
    .map((object) => `${object.kind} ${refKey(identityOf(object))}`);
}

/** Checks the hook server's replicas, and its settings for Metacontroller's account and for other namespaces. */
export const checkServer = checkOf('Hook server', async (inputs) => {
  const found = await inputs.list<Workload>({
    apiVersion: 'apps/v1',
    resource: 'deployments',
    namespace: 'rollout-hooks',
  });
  const server = found?.find(isServer);
  if (!server) return found ? [notChecked('there is no Deployment rollout-hooks/rollout-hooks in this cluster')] : [];
  const ready: number = server.status?.readyReplicas ?? 0;
  const wanted = server.spec.replicas ?? 1;
  const user = trustedUser(server);
  const account = await metacontrollerUser(inputs);
  const isRestricted = envOf(server).some(({ name, value }) => name === 'NO_CROSS_NAMESPACE_REFS' && value === 'true');
  const text = `${ready} of ${wanted} replicas are ready`;
  const isReady = ready >= wanted;
  const isOther = Boolean(user && account && user !== account);
  const other = `METACONTROLLER_USER is ${user}, and Metacontroller runs as ${account}: its writes count as those of a user`;
  return [
    isReady ? fine(text) : problem(text, 'look at the Pods', 'kubectl -n rollout-hooks describe pods'),
    ...problemIf(isOther, other, 'write its account into all manifests: manifests/metacontroller/README.md'),
    ...(isRestricted ? await foreignFindings(inputs) : []),
  ];
});

/** Findings with NO_CROSS_NAMESPACE_REFS: objects that name Gates of other namespaces are held. */
async function foreignFindings({ kind }: Reads): Promise<Found[]> {
  const [bindings = [], gates = []] = await Promise.all([kind<any>('FluxBinding'), kind<any>('Gate')]);
  const held = bindings.filter(({ spec, metadata }) =>
    spec?.gates?.some((ref: any) => ref.namespace && ref.namespace !== metadata.namespace),
  );
  const wide = gates.filter(({ spec }) => spec.selects?.namespaceSelector !== undefined);
  const objects = held.map(({ spec, metadata }) => `${spec.target.kind} ${metadata.namespace}/${spec.target.name}`);
  const names = wide.map(({ metadata }) => `Gate ${metadata.namespace}/${metadata.name}`);
  if (held.length + wide.length === 0)
    return [fine('NO_CROSS_NAMESPACE_REFS is set, and nothing refers to another namespace')];
  const found = (list: readonly string[], what: string, fix: string) =>
    problemIf(list.length > 0, `NO_CROSS_NAMESPACE_REFS is set, but these ${what}: ${firstFew(list, 5)}`, fix);
  const suspended = 'objects name Gates of other namespaces, so they are suspended';
  const denied = 'Gates select other namespaces, so every change of them is denied';
  return [
    ...found(objects, suspended, 'name Gates of their own namespace'),
    ...found(names, denied, 'remove spec.selects.namespaceSelector'),
  ];
}
