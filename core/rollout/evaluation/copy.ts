/** Which release is to be in spec.targetRepository by now, and whether it is. */
import type { HistoryEntry, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { identityOf } from '../../kube/names.ts';
import { type CopyProgress, progressOf } from '../../releaseCopy/copyProgress.ts';
import { type CopyJob, copyJob } from '../../releaseCopy/job.ts';
import { newestSucceeded } from '../upstream/upstreamVerdict.ts';
import type { Observed } from './inputs.ts';
import type { Selection } from './nextVersion.ts';

/** The reason of DeploymentBlocked while a deployment waits for it. */
export const WAITING_FOR_COPY = 'WaitingForCopy';

type StoredCopy = NonNullable<RolloutStatus['copy']>;

export interface CopyState {
  version: VersionInfo;
  url: string;
  /** Whether the deployment of this version waits for it. */
  isAwaited: boolean;
  /** Absent once `status.copy` has it. */
  job?: CopyJob;
  /** The Job is not there yet. */
  begins?: true;
  progress: CopyProgress;
  /** The next status.copy. */
  stored?: StoredCopy;
}

interface Past {
  history: readonly HistoryEntry[];
  available: readonly VersionInfo[];
  rolledBack: readonly string[];
}

/** `mayGo`: whether `selection.next` would be deployed now if it were there. */
export function copyState(
  { rollout, copying }: Observed,
  { history, available, rolledBack }: Past,
  selection: Selection,
  mayGo: boolean,
): CopyState | undefined {
  const target = rollout.spec?.targetRepository;
  if (!target) return undefined;
  const { url, secretRef, certSecretRef, insecure = false, overwrite = false } = target;
  const isFirst = target.when !== 'AfterBake';
  const next = isFirst && mayGo ? nextToCopy(selection, available) : undefined;
  const version = next ?? (isFirst ? history[0]?.version : newestSucceeded(history, rolledBack));
  if (!version) return undefined;
  const { tag, digest } = version;
  const state = { version, url, isAwaited: next !== undefined };

  const stored = rollout.status?.copy;
  const isStored = stored?.tag === tag && stored.url === url && (!digest || stored.digest === digest);
  if (stored && isStored) return { ...state, stored, progress: { state: 'Copied', copy: stored } };
  if (isFirst && !next && !copying?.jobs.length) return undefined;
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
  // What was deployed before it had to be copied is not copied afterwards.
  if (isFirst && !next && !found) return undefined;
  const progress = progressOf(job, found, copying.pods[job.metadata.name ?? ''] ?? [], rollout.metadata.uid);
  if (progress.state !== 'Copied') return { ...state, job, progress, ...(!found && { begins: true }) };
  const { copy } = progress;
  return { ...state, job, progress, stored: { ...copy, tag, url, ...(digest && { digest }) } };
}

/** The version to copy next: neither the initial version nor one of a rollback, which are there. */
function nextToCopy(
  { next, rollback, initial }: Selection,
  available: readonly VersionInfo[],
): VersionInfo | undefined {
  if (next === undefined || rollback || initial) return undefined;
  return available.find(({ tag }) => tag === next) ?? { tag: next };
}
