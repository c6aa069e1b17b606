/** The version in an approval or an opening for one version: a tag, or `namespace/name:tag` for one Rollout. */

import { isLegalTag } from '../kube/tag.ts';
import { few } from '../text/firstFew.ts';

const MAX_QUOTED_TARGET = 128;

/** The version of a Rollout that an annotation's value names; `problem` if it names none. */
export type ApprovalTarget =
  | {
      version: string;
      rollout?: string;
      uid?: string | undefined;
      requesters: readonly string[];
      /** A Warning for the approver, if the value could have meant another Rollout. */
      warning?: string;
    }
  | { problem: string };

/** The parts of `namespace/name:version`; a tag has neither slash nor colon. */
export function splitTarget(value: string): { version: string; rollout?: string } {
  const colon = value.indexOf(':');
  return colon < 0 ? { version: value } : { rollout: value.slice(0, colon), version: value.slice(colon + 1) };
}

/**
 * The problem of a version that isn't a tag, or not a release of the Rollouts: a typo must not be approved in advance.
 */
export function versionProblem(version: string, isKnown: boolean, rollouts: readonly string[]): string | undefined {
  if (!isLegalTag(version)) return `${quotedTarget(version)} is not a tag`;
  if (isKnown) return undefined;
  const missing =
    rollouts.length === 1
      ? `Rollout '${rollouts[0]}' has no release ${version}`
      : `none of the Rollouts ${few(rollouts)} has release ${version}`;
  return `${missing}: approve it after its ImagePolicy has selected it`;
}

/** The value, quoted for a denial. */
export function quotedTarget(value: string): string {
  return JSON.stringify(value.slice(0, MAX_QUOTED_TARGET));
}
