/** An object named as people name it, `kustomization/web`, `ks/web`, `gate flux-system/freeze`: which kind that is, and the object. */
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { few } from '../../core/kube/firstFew.ts';
import type { Cluster } from '../command/command.ts';
import { isApiError, type KubeClient } from '../kube/client.ts';
import { EXIT, Problem } from '../terminal/exit.ts';

export interface Target {
  /** Of the table of kinds; undefined for one that is served and not in it. */
  kind: KindName | undefined;
  resource: string;
  object: KubeObject<any, any>;
}

/** Beside the singular, the plural and the plural with its group. */
const SHORT: Record<string, KindName> = {
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

interface Served {
  apiVersion: string;
  kind: string;
  resource: string;
  namespaced: boolean;
}

/** A kind alone is `KIND/NAME`; a name alone a Rollout's. @throws Problem for a kind or a name that there is not. */
export async function readTarget(
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  text: string,
): Promise<Target> {
  const parts = text.split('/').filter((part) => part !== '');
  const [word, name] = parts.length === 1 ? ['rollout', parts[0]!] : [parts[0]!, parts.at(-1)!];
  const home = parts.length === 3 ? parts[1]! : namespace;
  const served = await servedKind(client, word);
  const scope = served.namespaced ? home : undefined;
  const object = await client.get({ ...served, namespace: scope, name });
  const kind = Object.hasOwn(KINDS, served.kind) ? (served.kind as KindName) : undefined;
  if (object) return { kind, resource: served.resource, object };
  const where = served.namespaced ? ` in namespace '${home}'` : '';
  const hint = served.namespaced ? await elsewhere(client, served, name) : '';
  throw new Problem(`There is no ${served.kind} '${name}'${where}.${hint}`);
}

async function servedKind(client: KubeClient, word: string): Promise<Served> {
  const [wanted = '', ...group] = word.toLowerCase().split('.');
  const row = Object.values(KINDS).find(
    ({ kind, resource, group: of }) =>
      (SHORT[wanted] === kind || kind.toLowerCase() === wanted || resource === wanted) &&
      (group.length === 0 || of === group.join('.')),
  );
  // A kind of ours that this version does not know yet, or one of another version than the table's.
  const own = row ? [resourceOf(row).apiVersion, ...row.versions.map((version) => `${row.group}/${version}`)] : OURS;
  for (const apiVersion of new Set(own)) {
    const found = (await resourcesOf(client, apiVersion)).find(({ name, kind }) =>
      row ? kind === row.kind : name === wanted || kind.toLowerCase() === wanted,
    );
    if (found) return { apiVersion, kind: found.kind, resource: found.name, namespaced: found.namespaced };
  }
  if (row) throw new Problem(`The cluster does not have the kind ${row.kind} (${row.group}): is it installed?`);
  const known = Object.values(KINDS).map(({ kind }) => kind.toLowerCase());
  throw new Problem(`'${word}' is not a known kind. Known are ${known.join(', ')}.`, EXIT.usage);
}

const OURS = [resourceOf(KINDS.Rollout).apiVersion, resourceOf(KINDS.Gate).apiVersion];

/** Whoever may not ask what is served is answered by the table. */
async function resourcesOf(client: KubeClient, apiVersion: string) {
  try {
    return await client.resources(apiVersion);
  } catch (error) {
    if (!isApiError(error, 403)) throw error;
    return Object.values(KINDS)
      .filter((row) => resourceOf(row).apiVersion === apiVersion)
      .map(({ kind, resource }) => ({ kind, name: resource, namespaced: !kind.startsWith('Cluster') }));
  }
}

/** ` There is one in 'apps': add -n.`, as far as the reader may see. */
export async function elsewhere(
  client: KubeClient,
  of: { apiVersion: string; resource: string },
  name: string,
): Promise<string> {
  try {
    const found = await client.list({ ...of, namespace: undefined, fieldSelector: `metadata.name=${name}` });
    const all = found.map(({ metadata }) => `'${metadata.namespace}'`);
    return all.length > 0 ? ` There is one in ${few(all, 5)}: add -n.` : '';
  } catch {
    return '';
  }
}
