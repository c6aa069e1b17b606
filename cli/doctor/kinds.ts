/** Versions, and the kinds that are served. */
import { GOVERNED_KINDS, KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import { type Finding, fine, problem, unseen } from '../../client/explain/doctor/finding.ts';
import { olderFindings } from '../../client/explain/doctor/older.ts';
import { type Schema, schemaFindings } from '../../client/explain/doctor/schemas.ts';
import { isApiError, type KubeClient } from '../kube/client.ts';
import type { Check } from './examined.ts';

const ABOUT = 'Kinds';
const OLDEST_MINOR = 32;

/** Ours: without one of them something we do does not work. Flux's are there as far as its components are. */
const OURS = Object.values(KINDS).filter(({ group }) => /^(kuberik\.com|gating\.toolkit\.fluxcd\.io)$/.test(group));

export const checkVersion: Check = async ({ client }) => {
  const { gitVersion, minor } = await client.raw<{ gitVersion: string; minor: string }>('/version');
  const about = 'API server';
  if (Number.parseInt(minor, 10) >= OLDEST_MINOR) return [fine(about, gitVersion)];
  return [
    problem(
      about,
      `${gitVersion} is older than 1.${OLDEST_MINOR}, which selectable fields of custom resources need`,
      'upgrade the cluster',
    ),
  ];
};

export const checkKinds: Check = async ({ client }) => {
  const own = await Promise.all(OURS.map(({ kind }) => checkKind(client, kind)));
  const findings = [...own.flat(), ...olderFindings(await servedByFlux(client))];
  const problems = findings.filter(({ level }) => level === 'problem');
  const unseenKinds = findings.filter(({ level }) => level === 'unseen');
  const compared = unseenKinds.length === 0 ? ', with the fields of this command' : '';
  return [
    ...(problems.length > 0 ? problems : [fine(ABOUT, `all ${OURS.length} are served${compared}`)]),
    ...unseenKinds.slice(0, 1),
  ];
};

/** The kinds of each version of Flux's groups. */
async function servedByFlux(client: KubeClient): Promise<Map<string, string[]>> {
  const { groups } = await client.raw<{ groups: { name: string; versions: { groupVersion: string }[] }[] }>('/apis');
  const governed = new Set<string>(GOVERNED_KINDS.map(({ group }) => group));
  const versions = groups.filter(({ name }) => governed.has(name)).flatMap((group) => group.versions);
  const kinds = versions.map(async ({ groupVersion }) => {
    const resources = await client.resources(groupVersion);
    return [groupVersion, resources.map(({ kind }) => kind)] as const;
  });
  return new Map(await Promise.all(kinds));
}

async function checkKind(client: KubeClient, name: KindName): Promise<Finding[]> {
  const row = KINDS[name];
  const { apiVersion, resource } = resourceOf(row);
  const file = `${row.group}_${resource}`;
  const served = await client.resources(apiVersion);
  if (!served.some((each) => each.kind === name)) {
    return [
      problem(
        ABOUT,
        `${name} (${apiVersion}) is not served`,
        'install its CRD',
        `kubectl apply --server-side -f manifests/crds/${file}.yaml`,
      ),
    ];
  }
  try {
    const crd = await client.get<any>({
      apiVersion: 'apiextensions.k8s.io/v1',
      resource: 'customresourcedefinitions',
      name: `${resource}.${row.group}`,
    });
    const versions: { name: string; schema?: { openAPIV3Schema?: Schema } }[] = crd?.spec?.versions ?? [];
    const schema = versions.find((version) => apiVersion.endsWith(`/${version.name}`))?.schema?.openAPIV3Schema;
    return schema ? schemaFindings(name, file, schema) : [];
  } catch (error) {
    if (!isApiError(error, 403)) throw error;
    return [
      unseen(
        ABOUT,
        'customresourcedefinitions: you may not read them, and whether they are as new as this command is not known',
      ),
    ];
  }
}
