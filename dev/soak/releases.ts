/** What became of each release, and of each application in the end. */
import type { App, Release } from './fleet.ts';

export interface ReleaseCounts {
  published: number;
  succeeded: number;
  /** And had to: they were bad. */
  failed: number;
  superseded: number;
}

/** Of each release what became of it; a sentence for each that is lost, or ended as it should not have. */
export function judgeReleases(apps: Iterable<Pick<App, 'key' | 'releases'>>): {
  counts: ReleaseCounts;
  violations: string[];
} {
  const counts: ReleaseCounts = { published: 0, succeeded: 0, failed: 0, superseded: 0 };
  const violations: string[] = [];
  for (const { key, releases } of apps) {
    const all = [...releases.values()];
    for (const [i, release] of all.entries()) {
      counts.published++;
      const fate = fateOf(release, all.slice(i + 1));
      if (typeof fate === 'string') violations.push(`Rollout ${key}: ${release.tag} ${fate}`);
      else counts[fate.is]++;
    }
  }
  return { counts, violations };
}

type Fate = { is: 'succeeded' | 'failed' | 'superseded' } | string;

function fateOf({ outcome, bad, deployedMs }: Release, later: readonly Release[]): Fate {
  if (outcome === 'Succeeded') return bad ? 'succeeded, though it was bad' : { is: 'succeeded' };
  if (outcome === 'Failed') return bad ? { is: 'failed' } : 'failed, though it was good';
  if (outcome !== undefined) return `ended ${outcome}, which nobody had asked for`;
  if (deployedMs !== undefined) return 'was deployed and never ended';
  return later.some((release) => release.deployedMs !== undefined) ? { is: 'superseded' } : 'never arrived';
}

/** What is not yet as it has to be when nothing is under way and every gate is open. */
export function unsettled(app: App): string[] {
  const { rollout, kustomization, key } = app;
  const newest = [...app.releases.values()].at(-1);
  const [head] = rollout?.status?.history ?? [];
  const isThere = head?.version.tag === newest?.tag && ['Succeeded', 'Failed'].includes(head?.bakeStatus);
  const isBack = newest?.outcome === 'Failed' && app.kind === 'health' && head?.bakeStatus === 'Succeeded';
  const carries = kustomization?.spec.postBuild?.substitute?.APP_VERSION;
  const remembers = kustomization?.metadata.annotations?.['gate.fluxcd.io/suspended'] !== undefined;
  return [
    ...(isThere || isBack ? [] : [`Rollout ${key} has ${head?.version.tag} ${head?.bakeStatus}, not ${newest?.tag}`]),
    ...(carries === head?.version.tag ? [] : [`Kustomization ${key} carries ${carries}, not ${head?.version.tag}`]),
    ...(kustomization?.spec.suspend ? [`Kustomization ${key} is suspended`] : []),
    ...(remembers ? [`Kustomization ${key} remembers a suspension`] : []),
  ];
}
