/** A version that somebody names: whether it is one, whether it is known here, and what going there undoes. */
import type { Rollout } from '../../../api/types.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { isLegalTag } from '../../../core/kube/tag.ts';

/** Undefined for what can be a version. */
export function versionProblem(version: string): string | undefined {
  if (isLegalTag(version)) return undefined;
  return `'${version}' is not a tag: letters, digits, '_', '.' and '-', at most 128 of them.`;
}

/** Newest first, each once: what the Rollout has discovered and what it has run. */
function knownVersions({ status }: Rollout): string[] {
  const { availableReleases = [], history = [] } = status ?? {};
  const released = availableReleases.map(({ tag }) => tag).reverse();
  return [...new Set([...released, ...history.map(({ version }) => version.tag)])];
}

/** What whoever asks for the version should know. `unknown`: what comes of one that nobody has heard of. */
export function versionConcerns(rollout: Rollout, version: string, unknown: string): string[] {
  return [
    ...unknownConcern(rollout, version, unknown),
    ...rejectedConcern(rollout, version),
    ...barrierConcern(rollout, version),
  ];
}

function unknownConcern(rollout: Rollout, version: string, then: string): string[] {
  const text = unknownText(rollout, version);
  return text === undefined ? [] : [`${text}: ${then}`];
}

/** Where it may be a typo. */
export function unknownText(rollout: Rollout, version: string): string | undefined {
  const known = knownVersions(rollout);
  if (known.includes(version)) return undefined;
  const has = known.length > 0 ? `it has ${few(known, 5)}` : 'it has none yet';
  return `${version} is no release that this Rollout knows (${has})`;
}

function rejectedConcern({ status }: Rollout, version: string): string[] {
  const rejected = status?.rejectedReleases?.find(({ tag }) => tag === version);
  return rejected ? [`RolloutGate ${rejected.gate} rejects ${version}: it waits for as long`] : [];
}

/** Going back past a release that says that it cannot be undone. */
function barrierConcern({ spec, status }: Rollout, version: string): string[] {
  const { history = [], rollbackBarriers = [] } = status ?? {};
  const index = history.findIndex((entry) => entry.version.tag === version);
  const undone = history.slice(0, Math.max(index, 0)).map((entry) => entry.version.tag);
  const barrier = undone.find(
    (tag) => tag !== version && (tag === spec?.rollback?.barrier || rollbackBarriers.includes(tag)),
  );
  return barrier === undefined ? [] : [`${barrier} cannot be undone, and ${version} is from before it`];
}
