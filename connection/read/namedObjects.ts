/** Reads objects by the names that users type: `my-app`, `ks/web`, `gate/flux-system/year-end`. */
import type { ImagePolicy } from '../../api/flux.ts';
import { GATES, KINDS, type KindName, ROLLOUT_GATES, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import type { Cluster } from '../kube/cluster.ts';
import { type Collection, type KubeClient, type ListSelectors, unlessRefused } from '../kube/kubeClient.ts';

/** Short names of kinds. */
const SHORT_NAMES: Record<string, KindName> = {
  ro: 'Rollout',
  rg: 'RolloutGate',
  ks: 'Kustomization',
  hr: 'HelmRelease',
  hc: 'HealthCheck',
  budget: 'RolloutBudget',
  clusterbudget: 'ClusterRolloutBudget',
  ocirepo: 'OCIRepository',
  gitrepo: 'GitRepository',
  helmrepo: 'HelmRepository',
  imgpol: 'ImagePolicy',
  imgrepo: 'ImageRepository',
};

const ROWS = Object.values(KINDS);

/** The row of a kind by a word that a user types: `ks`, `rollouts`, `gate.gating.toolkit.fluxcd.io`. */
export function kindRow(word: string) {
  const [wanted = '', ...group] = word.toLowerCase().split('.');
  return ROWS.find(
    ({ kind, resource, group: of }) =>
      (SHORT_NAMES[wanted] === kind || kind.toLowerCase() === wanted || resource === wanted) &&
      (group.length === 0 || of === group.join('.')),
  );
}

const partsOf = (text: string) => text.split('/').filter((part) => part !== '');

// Any object.

export interface NamedTarget {
  /** The kind; undefined if it is not in the table of kinds. */
  kind: KindName | undefined;
  resource: string;
  object: AnyObject;
}

interface ServedKind {
  apiVersion: string;
  kind: string;
  resource: string;
  namespaced: boolean;
}

/** Reads the object of KIND/NAME, or the Rollout of NAME. @throws Problem if the kind or the object does not exist */
export async function readTarget(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  text: string,
): Promise<NamedTarget> {
  const parts = partsOf(text);
  if (parts.length === 0 || parts.length > 3)
    throw new Problem(`'${text}' names no object: expected NAME, KIND/NAME or KIND/NAMESPACE/NAME.`);
  const [word, name] = parts.length === 1 ? ['rollout', parts[0]!] : [parts[0]!, parts.at(-1)!];
  const home = parts.length === 3 ? parts[1]! : namespace;
  const served = await servedKind(client, word);
  const scope = served.namespaced ? home : undefined;
  const object = await client.get({ ...served, namespace: scope, name });
  const kind = Object.hasOwn(KINDS, served.kind) ? (served.kind as KindName) : undefined;
  if (object) return { kind, resource: served.resource, object };
  if (scope === undefined) throw new Problem(`There is no ${served.kind} '${name}'.`);
  throw await notFound(client, served.kind, [served], { namespace: home, name });
}

const OWN_API_VERSIONS = [resourceOf(KINDS.Rollout).apiVersion, resourceOf(KINDS.Gate).apiVersion];

async function servedKind(client: KubeClient, word: string): Promise<ServedKind> {
  const row = kindRow(word);
  const [wanted = ''] = word.toLowerCase().split('.');
  // A kind without a row may be a new one of ours.
  const apiVersions = row ? row.versions.map((version) => `${row.group}/${version}`) : OWN_API_VERSIONS;
  for (const apiVersion of apiVersions) {
    const found = (await resourcesOf(client, apiVersion)).find(({ name, kind }) =>
      row ? kind === row.kind : name === wanted || kind.toLowerCase() === wanted,
    );
    if (found) return { apiVersion, kind: found.kind, resource: found.name, namespaced: found.namespaced };
  }
  if (row) throw new Problem(`The cluster does not have the kind ${row.kind} (${row.group}): is it installed?`);
  const known = ROWS.map(({ kind }) => kind.toLowerCase()).join(', ');
  throw new Problem(`'${word}' is not a known kind. Known are ${known}.`, EXIT.usage);
}

/** The resources of an API version; from the table of kinds if the user can't read the API server's discovery. */
async function resourcesOf(client: KubeClient, apiVersion: string) {
  const served = await unlessRefused(client.resources(apiVersion), 403);
  if (served) return served;
  return ROWS.filter((row) => resourceOf(row).apiVersion === apiVersion).map(({ kind, resource }) => ({
    kind,
    name: resource,
    namespaced: !kind.startsWith('Cluster'),
  }));
}

/** The problem of a name without an object, with where that name exists, or else with the names of the namespace. */
async function notFound(
  client: KubeClient,
  what: string,
  from: readonly Collection[],
  { namespace, name }: NamespacedName,
): Promise<Problem> {
  const fieldSelector = `metadata.name=${name}`;
  const listed = async (each: ListSelectors & Pick<Collection, 'namespace'>) =>
    (await Promise.all(from.map((of) => client.list({ ...of, ...each }).catch(() => [])))).flat();
  const found = await listed({ namespace: undefined, fieldSelector });
  const elsewhere = [...new Set(found.map(({ metadata }) => metadata.namespace ?? ''))];
  const here = elsewhere.length > 0 ? [] : (await listed({ namespace })).map(({ metadata }) => metadata.name ?? '');
  const hint =
    elsewhere.length > 0
      ? ` Found in ${elsewhere.length > 1 ? 'namespaces' : 'namespace'} ${firstFew(elsewhere, 5)}: add -n.`
      : here.length > 0
        ? ` It has ${firstFew(here, 8)}.`
        : '';
  return new Problem(`There is no ${what} ${name} in namespace ${namespace}.${hint}`);
}

// Gates and RolloutGates.

interface KindObjects {
  Gate: Gate;
  RolloutGate: RolloutGate;
  Rollout: Rollout;
}

/** The parts of a typed name. `kind`: undefined if the user has not typed one. */
export type ParsedName = NamespacedName & { kind: keyof KindObjects | undefined };

/** Parses `gate/year-end`, `rolloutgate/qa`, `gate/flux-system/year-end`, `flux-system/year-end` or `year-end`. */
export function parseName(text: string, home: string): ParsedName {
  const parts = partsOf(text);
  const kind = parts.length > 1 ? kindRow(parts[0]!)?.kind : undefined;
  const known = kind === 'Gate' || kind === 'RolloutGate' || kind === 'Rollout' ? kind : undefined;
  const [name = '', namespace = home, ...rest] = (known ? parts.slice(1) : parts).reverse();
  if (rest.length > 0 || name === '')
    throw new Problem(`'${text}' names no object: expected NAME, NAMESPACE/NAME or KIND/NAME.`);
  return { kind: known, namespace, name };
}

export function readNamed<Kind extends keyof KindObjects>(
  client: KubeClient,
  kind: Kind,
  { namespace, name }: NamespacedName,
): Promise<KindObjects[Kind] | undefined> {
  return client.get<KindObjects[Kind]>({ ...resourceOf(KINDS[kind]), namespace, name });
}

/** Reads the RolloutGates of a Rollout. */
export async function readRolloutGatesOf(client: KubeClient, { metadata }: Rollout): Promise<RolloutGate[]> {
  const all = await client.list<RolloutGate>({ ...ROLLOUT_GATES, namespace: metadata.namespace });
  return all.filter(({ spec }) => spec?.rolloutRef.name === metadata.name);
}

/** Reads a Gate or a RolloutGate. @throws Problem if there is neither, with the text of `next`, or if there are both */
export async function readAnyGate(
  { client, namespace: home }: Cluster,
  text: string,
  next?: (parsed: ParsedName) => Promise<string>,
): Promise<Gate | RolloutGate> {
  const parsed = parseName(text, home);
  const { kind, namespace, name } = parsed;
  const [gate, rolloutGate] = await Promise.all([
    kind === 'RolloutGate' ? undefined : readNamed(client, 'Gate', parsed),
    kind === 'Gate' ? undefined : readNamed(client, 'RolloutGate', parsed),
  ]);
  if (gate && rolloutGate) {
    const both = `There is a Gate and a RolloutGate ${name} in namespace ${namespace}`;
    throw new Problem(`${both}: write gate/${name} or rolloutgate/${name}.`);
  }
  const found = gate ?? rolloutGate;
  if (found) return found;
  const from = [...(kind === 'RolloutGate' ? [] : [GATES]), ...(kind === 'Gate' ? [] : [ROLLOUT_GATES])];
  const none = await notFound(client, kind ?? 'Gate or RolloutGate', from, parsed);
  throw next ? new Problem(`${none.message}\n${await next(parsed)}`) : none;
}

export function isGate(found: Gate | RolloutGate): found is Gate {
  return found.kind === 'Gate';
}

// Rollouts.

/** The Rollouts of a command: by name, of one namespace, or of all. */
export interface RolloutSelection {
  names: readonly string[];
  everywhere: boolean;
  selector?: string | undefined;
}

/** The pages of Rollouts, in the order of the names, or of namespace and name. @throws Problem for a missing name */
export async function* rolloutPages(
  cluster: Cluster,
  { names, everywhere, selector: labelSelector }: RolloutSelection,
): AsyncGenerator<Rollout[]> {
  if (names.length > 0) {
    yield Promise.all(names.map((name) => readRollout(cluster, name)));
    return;
  }
  const from = { ...ROLLOUTS, namespace: everywhere ? undefined : cluster.namespace, labelSelector };
  for await (const { items } of cluster.client.pages<Rollout>(from)) yield items;
}

export async function readRollouts(cluster: Cluster, which: RolloutSelection): Promise<Rollout[]> {
  const rollouts: Rollout[] = [];
  for await (const page of rolloutPages(cluster, which)) rollouts.push(...page);
  return rollouts;
}

/** Reads the Rollout of `name`, `rollout/name`, or `namespace/name` as -A prints it. @throws Problem without one */
export async function readRollout(
  { client, namespace: home }: Pick<Cluster, 'client' | 'namespace'>,
  text: string,
): Promise<Rollout> {
  const { namespace, name } = parseName(text, home);
  const rollout = await readNamed(client, 'Rollout', { namespace, name });
  if (rollout) return rollout;
  throw await notFound(client, 'Rollout', [ROLLOUTS], { namespace, name });
}

/** The objects of a kind in its served version, which is older with older Flux. `namespace` undefined: all. */
export async function listInAnyVersion<T extends AnyObject>(
  client: KubeClient,
  kind: KindName,
  namespace: string | undefined,
): Promise<T[]> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    const found = await unlessRefused(client.list<T>({ apiVersion: `${group}/${version}`, resource, namespace }), 404);
    if (found) return found;
  }
  return [];
}

/** Reads the ImagePolicy of a Rollout; undefined if there is none, or the user can't read it. */
export async function readPolicy(client: KubeClient, rollout: Rollout): Promise<ImagePolicy | undefined> {
  const ref = policyRef(rollout);
  const { group, versions, resource } = KINDS.ImagePolicy;
  for (const version of ref ? versions : []) {
    const from = { apiVersion: `${group}/${version}`, resource, ...ref! };
    const found = await unlessRefused(client.get<ImagePolicy>(from), 403);
    if (found) return found;
  }
  return undefined;
}
