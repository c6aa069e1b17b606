/** The release that spec.targetRepository is to have, and the state of its copy. */
import type { RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { identityOf } from '../../kube/names.ts';
import { type CopyProgress, progressOf } from '../../releaseCopy/copyProgress.ts';
import { type CopyJob, copyJob } from '../../releaseCopy/job.ts';
import { newestSucceeded } from '../upstream/upstreamVerdict.ts';
import type { Observed, RolloutState } from './inputs.ts';
import type { Selection } from './nextVersion.ts';

/** Reason of DeploymentBlocked while a deployment waits for its copy. */
export const WAITING_FOR_COPY = 'WaitingForCopy';

type StoredCopy = NonNullable<RolloutStatus['copy']>;

export interface CopyState {
  version: VersionInfo;
  url: string;
  /** Whether the deployment of this version waits for the copy. */
  isAwaited: boolean;
  /** The Job that copies; absent once `status.copy` has the copy. */
  job?: CopyJob;
  /** The Job does not exist yet. */
  begins?: true;
  progress: CopyProgress;
  /** The next status.copy. */
  stored?: StoredCopy;
}

/** @param isNextAllowed whether `selection.next` would be deployed now if it were copied */
export function copyState(
  { rollout, copying }: Observed,
  { history, available, rolledBack }: Pick<RolloutState, 'history' | 'available' | 'rolledBack'>,
  selection: Selection,
  isNextAllowed: boolean,
): CopyState | undefined {
  const target = rollout.spec?.targetRepository;
  if (!target) return undefined;
  const { url, secretRef, certSecretRef, insecure = false, overwrite = false } = target;
  const copiesFirst = target.when !== 'AfterBake';
  const next = copiesFirst && isNextAllowed ? nextToCopy(selection, available) : undefined;
  const version = next ?? (copiesFirst ? history[0]?.version : newestSucceeded(history, rolledBack));
  if (!version) return undefined;
  const { tag, digest } = version;
  const state = { version, url, isAwaited: next !== undefined };

  const stored = rollout.status?.copy;
  const isStored = stored?.tag === tag && stored.url === url && (!digest || stored.digest === digest);
  if (stored && isStored) return { ...state, stored, progress: { state: 'Copied', copy: stored } };
  if (copiesFirst && !next && !copying?.jobs.length) return undefined;
  const problem = copying?.problem ?? (copying?.source ? undefined : 'it has no ImageRepository to copy from');
  if (!copying?.source || problem) return { ...state, progress: { state: 'Failed', message: problem ?? '' } };
  const job = copyJob({
    allowLocalRegistries: copying.allowLocalRegistries,
    rollout: identityOf(rollout),
    tag,
    ...(digest && { digest }),
    source: copying.source,
    target: {
      url,
      insecure,
      overwrite,
      ...(secretRef && { secret: secretRef.name }),
      ...(certSecretRef && { certificates: certSecretRef.name }),
    },
    image: copying.image,
  });
  const found = copying.jobs.find(({ metadata }) => metadata.name === job.metadata.name);
  // A version that was deployed before spec.targetRepository was set is not copied afterwards.
  if (copiesFirst && !next && !found) return undefined;
  const progress = progressOf(job, found, copying.pods[job.metadata.name ?? ''] ?? [], rollout.metadata.uid);
  if (progress.state !== 'Copied') return { ...state, job, progress, ...(!found && { begins: true }) };
  const { copy } = progress;
  return { ...state, job, progress, stored: { ...copy, tag, url, ...(digest && { digest }) } };
}

/** The version to copy next; undefined for an initial version and a rollback, which have been deployed before. */
function nextToCopy(
  { next, rollback, initial }: Selection,
  available: readonly VersionInfo[],
): VersionInfo | undefined {
  if (next === undefined || rollback || initial) return undefined;
  return available.find(({ tag }) => tag === next) ?? { tag: next };
}
