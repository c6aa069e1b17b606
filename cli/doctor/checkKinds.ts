/** Checks the API server's version, and the kinds that it serves: that they have the fields of this command. */
import { SCHEMAS } from '../../api/generated/schemas.ts';
import { apiVersionOf, GOVERNED_KINDS, KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import { isApiError, type KubeClient } from '../../connection/kube/kubeClient.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { checkOf, type Found, fine, notChecked, problem, problemIf } from './finding.ts';

const OLDEST_MINOR = 32;

/** Our own kinds, which all have to be served. Flux's kinds are served if its components are installed. */
const OWN_KINDS = Object.values(KINDS).filter(({ group }) =>
  /^(kuberik\.com|gating\.toolkit\.fluxcd\.io)$/.test(group),
);

export const checkVersion = checkOf('API server', async ({ client }) => {
  const { gitVersion, minor } = await client.raw<{ gitVersion: string; minor: string }>('/version');
  if (Number.parseInt(minor, 10) >= OLDEST_MINOR) return [fine(gitVersion)];
  const text = `${gitVersion} is older than 1.${OLDEST_MINOR}, which selectable fields of custom resources need`;
  return [problem(text, 'upgrade the cluster')];
});

export const checkKinds = checkOf('Kinds', async ({ client }) => {
  const own = await Promise.all(OWN_KINDS.map(({ kind }) => checkKind(client, kind)));
  const findings = [...own.flat(), ...olderFindings(await servedByFlux(client))];
  const problems = findings.filter(({ level }) => level === 'problem');
  const unseenKinds = findings.filter(({ level }) => level === 'unseen');
  const compared = unseenKinds.length === 0 ? ', and their fields are those of this command' : '';
  const all = [fine(`all ${OWN_KINDS.length} are served${compared}`)];
  return [...(problems.length > 0 ? problems : all), ...unseenKinds.slice(0, 1)];
});

/** The kinds that the API server serves in each version of Flux's groups. */
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

async function checkKind(client: KubeClient, name: KindName): Promise<Found[]> {
  const row = KINDS[name];
  const { apiVersion, resource } = resourceOf(row);
  const file = `${row.group}_${resource}`;
  const served = await client.resources(apiVersion);
  if (!served.some((each) => each.kind === name)) {
    const command = `kubectl apply --server-side -f manifests/crds/${file}.yaml`;
    return [problem(`${name} (${apiVersion}) is not served`, 'install its CRD', command)];
  }
  try {
    const crds = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' };
    const crd = await client.get<any>({ ...crds, name: `${resource}.${row.group}` });
    const versions: { name: string; schema?: { openAPIV3Schema?: Schema } }[] = crd?.spec?.versions ?? [];
    const schema = versions.find((version) => apiVersion.endsWith(`/${version.name}`))?.schema?.openAPIV3Schema;
    return schema ? schemaFindings(name, file, schema) : [];
  } catch (error) {
    if (!isApiError(error, 403)) throw error;
    const text =
      "you aren't allowed to read customresourcedefinitions: their fields were not compared with this command";
    return [notChecked(text)];
  }
}

export interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/**
 * Findings about fields that only the CRD or only this command has: the API server silently drops fields that a CRD
 * does not have. `crd`: the name of its file, `kuberik.com_rollouts`.
 */
export function schemaFindings(kind: string, crd: string, served: Schema): Found[] {
  const known = SCHEMAS[kind] as Schema | undefined;
  if (!known) return [];
  const [ours, theirs] = [fieldsOf(known), fieldsOf(served)];
  const older = [...ours].filter((field) => !theirs.has(field));
  const newer = [...theirs].filter((field) => !ours.has(field));
  const olderText = `The CRD of ${kind} is older than this command: it does not have ${firstFew(older, 3)}`;
  const newerText = `The CRD of ${kind} is newer than this command, which lacks ${firstFew(newer, 3)}`;
  const upgrade = 'apply the CRDs of the installed version, or use the command of that version';
  const command = `kubectl apply --server-side -f manifests/crds/${crd}.yaml`;
  return [
    ...problemIf(older.length > 0, olderText, upgrade, command),
    ...problemIf(newer.length > 0, newerText, 'install the command of that version'),
  ];
}

/** The paths of the fields in spec and status: `spec.gates[].name`. */
function fieldsOf(schema: Schema): Set<string> {
  const found = new Set<string>();
  const walk = ({ properties = {}, items }: Schema, path: string) => {
    for (const [name, below] of Object.entries(properties)) {
      const here = path === '' ? name : `${path}.${name}`;
      if (path === '' && name !== 'spec' && name !== 'status') continue;
      found.add(here);
      walk(below, here);
    }
    if (items) walk(items, `${path}[]`);
  };
  walk(schema, '');
  return found;
}

/**
 * Findings about kinds of Flux that are served in older versions only. While one of its kinds is missing, a controller
 * of Metacontroller does nothing for all of them (docs/facts.md, M14).
 * @param served the kinds of each `group/version` of Flux that the API server serves
 */
export function olderFindings(served: ReadonlyMap<string, readonly string[]>): Found[] {
  return GOVERNED_KINDS.flatMap((row) => {
    const serving = [...served].flatMap(([version, kinds]) =>
      version.startsWith(`${row.group}/`) && kinds.includes(row.kind) ? version : [],
    );
    const wanted = apiVersionOf(row);
    if (serving.length === 0 || serving.includes(wanted)) return [];
    const what = `${row.kind} is served only as ${serving.join(' and ')}, but rollout-hooks reads ${wanted}`;
    const text = `${what}: Gates hold no object of group ${row.group}`;
    return problem(text, 'upgrade Flux to 2.7 or newer');
  });
}
