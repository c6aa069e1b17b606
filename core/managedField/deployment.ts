/**
 * The annotation `rollout.kuberik.com/deployed`: `<rollout>=<id>/<version>/<uid>`, several joined with `,`, sorted by
 * Rollout. The version is percent-encoded, since a hand-written history may contain anything.
 * `/git` follows if Git sets the field (spec.writeBack), so that Git can still set it when the Rollout is gone.
 */
import { BYPASS_REASON, DEPLOYED, FORCE_DEPLOY } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { DeploymentRef, Rollout } from '../../api/types.ts';
import { isLegalTag, tagWord } from '../kube/tag.ts';
import { writeBackName } from '../policy/derivedPolicy.ts';
import { nameWord, shell, WHY } from '../text/shell.ts';

/** One entry. Longer versions and uids would leave no room for the annotations of a closed Gate. */
const ENTRY = /^([a-z0-9.-]+)=(\d{1,15})\/([^/,]{0,384})\/([A-Za-z0-9-]{1,64})(?:\/git)?$/;
const BY_GIT = '/git';

/**
 * The text of the annotation DEPLOYED; equal deployments have equal texts.
 * @param byGit the Rollouts whose fields Git sets
 */
export function formatDeployments(deployments: readonly DeploymentRef[], byGit?: ReadonlySet<string>): string {
  return [...deployments]
    .sort((a, b) => (a.rollout < b.rollout ? -1 : 1))
    .map(({ rollout, id, version, uid }) => {
      const entry = `${rollout}=${id}/${encodeURIComponent(version)}/${uid}`;
      return byGit?.has(rollout) ? `${entry}${BY_GIT}` : entry;
    })
    .join(',');
}

/** The Rollouts in the annotation whose fields Git sets. */
export function setByGit(text: string | undefined): ReadonlySet<string> {
  const entries = text?.split(',').filter((entry) => entry.endsWith(BY_GIT)) ?? [];
  return new Set(entries.map((entry) => entry.slice(0, entry.indexOf('='))));
}

/** Whether Git sets the fields that the Rollout manages: spec.writeBack. */
export function isSetByGit(rollout: Rollout | undefined): boolean {
  return writeBackName(rollout) !== undefined;
}

/**
 * The deployment with the version that a user or Git has set; undefined if that is no tag: no Rollout can adopt it.
 */
export function withVersion(deployment: DeploymentRef, version: string): DeploymentRef | undefined {
  return isLegalTag(version) ? { ...deployment, version } : undefined;
}

/** The deployments in the annotation. Entries that do not parse are left out. */
export function parseDeployments(text: string | undefined): DeploymentRef[] {
  if (!text) return [];
  return text.split(',').flatMap((part) => {
    const [, rollout, id, version, uid] = ENTRY.exec(part) ?? [];
    if (rollout === undefined) return [];
    try {
      return [{ rollout, id: Number(id), version: decodeURIComponent(version!), uid: uid! }];
    } catch {
      return [];
    }
  });
}

/** The deployment of each Rollout in the annotation of an object; the first if the annotation has several. */
export function deploymentsOn({ metadata }: Pick<KubeObject, 'metadata'>): Map<string, DeploymentRef> {
  const deployments = parseDeployments(metadata.annotations?.[DEPLOYED]);
  return new Map(deployments.reverse().map((deployment) => [deployment.rollout, deployment]));
}

/**
 * The newest stored deployment of a Rollout, which Flux objects follow; `back` 1 is the one before it, and so on.
 * undefined if the Rollout has deployed nothing.
 */
export function deploymentOf(rollout: Rollout | undefined, back = 0): DeploymentRef | undefined {
  const entry = rollout?.status?.history?.[back];
  const tag = entry?.version?.tag;
  if (!rollout || !entry || typeof tag !== 'string' || tag === '') return undefined;
  return { rollout: rollout.metadata.name ?? '', id: entry.id ?? 0, version: tag, uid: rollout.metadata.uid ?? '' };
}

/** The newest deployment of this version by the Rollout. */
export function deploymentWith(rollout: Rollout, version: string): DeploymentRef | undefined {
  const back = rollout.status?.history?.findIndex((entry) => entry.version?.tag === version) ?? -1;
  return back < 0 ? undefined : deploymentOf(rollout, back);
}

/**
 * The command that deploys this version. It changes the pin of a pinned Rollout: a force-deploy would wait for its end.
 * @param isBypass whether the version shall bypass closed Gates
 */
export function deployVersionCommand(
  { namespace, name }: { namespace: string | undefined; name: string },
  version: string | undefined,
  { isPinned = false, isBypass = false }: { isPinned?: boolean; isBypass?: boolean } = {},
): string {
  const reason = { expanded: isBypass ? shell` ${BYPASS_REASON}=${WHY}` : '' };
  if (!isPinned) {
    return shell`kubectl -n ${nameWord(namespace)} annotate --overwrite rollout.kuberik.com/${nameWord(name)} ${FORCE_DEPLOY}=${tagWord(version)}${reason}`;
  }
  const metadata = { annotations: { [BYPASS_REASON]: '<why>' } };
  const patch = { ...(isBypass && { metadata }), spec: { wantedVersion: tagWord(version) } };
  return shell`kubectl -n ${nameWord(namespace)} patch rollout.kuberik.com/${nameWord(name)} --type=merge -p ${JSON.stringify(patch)}`;
}

/** Whether both are one deployment of one Rollout. */
export function isSameDeployment(a: DeploymentRef, b: DeploymentRef): boolean {
  return a.rollout === b.rollout && a.id === b.id && a.uid === b.uid;
}

/** Whether both are one deployment with one version: a hand-written annotation may have another version. */
export function isSameVersion(a: DeploymentRef, b: DeploymentRef): boolean {
  return isSameDeployment(a, b) && a.version === b.version;
}

/** The text for messages: `my-app 1.1.0 (7)`. */
export function deploymentText(deployment: { rollout: string; version?: string; id?: number }): string {
  return `${deployment.rollout} ${deployment.version ?? ''} (${deployment.id ?? 0})`;
}
