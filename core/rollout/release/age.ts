/**
 * How long a release has to be known here before it may be deployed. Our own clock counts: the date in an image is its publisher's to
 * choose. A clock that is set back makes a release wait longer, never shorter.
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';

/** Reason of DeploymentBlocked, and of Ready before a first deployment. */
export const RELEASE_TOO_YOUNG = 'ReleaseTooYoung';

export type YoungRelease = NonNullable<RolloutStatus['youngReleases']>[number];

/** A release from before such times were kept is seen now. */
export function withFirstSeen(release: VersionInfo, now: EpochMs): VersionInfo {
  return parseTime(release.firstSeen) === undefined ? { ...release, firstSeen: formatTime(now) } : release;
}

/** When the release is old enough; `minimumAge` in milliseconds. */
export function deployableAt(release: VersionInfo, minimumAge: number, now: EpochMs): EpochMs {
  return Math.min((parseTime(release.firstSeen) ?? now) + minimumAge, LAST_INSTANT);
}

/** When a release was first seen says something of releases, not of deployments: the history does not keep it. */
export function withoutFirstSeen({ firstSeen, ...version }: VersionInfo): VersionInfo {
  return version;
}
