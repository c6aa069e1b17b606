/** The release that spec.targetRepository is to have, and the state of its copy. */
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { identityOf } from '../../kube/names.ts';
import { type CopyJob, type CopyProgress, copyJob, progressOf } from '../../releaseCopy/job.ts';
import { succeededDeployments } from '../deployment/history.ts';
import type { NextChoice } from './nextVersion.ts';
import type { RolloutContext } from './observed.ts';

/** The characters of a request that count. */
const MAX_REQUEST_CHARACTERS = 64;

type StoredCopy = NonNullable<RolloutStatus['copy']>;

export interface CopyState {
  version: VersionInfo;
  url: string;
  /** Whether the deployment of this version waits for the copy. */
  isAwaited: boolean;
  /** The Job that copies; absent once `status.copy` has the copy. */
  job?: CopyJob;
  /** Whether the Job doesn't exist yet. */
  begins: boolean;
  progress: CopyProgress;
  /** The copy that the target has, even while a user requests another one: the next status.copy. */
  stored?: StoredCopy | undefined;
}

/** Whether a release is copied before it is deployed, so that the objects run the copy. */
export function copiesFirst({ spec }: Rollout): boolean {
  return spec?.targetRepository !== undefined && spec.targetRepository.when !== 'AfterBake';
}

/**
 * The copy that `spec.targetRepository` requires now; undefined if none is.
 * @param next the version that would be deployed now if it were copied
 */
export function copyState(context: RolloutContext, next: NextChoice | undefined): CopyState | undefined {
  const { rollout, copyInputs } = context.observed;
  const target = rollout.spec?.targetRepository;
  if (!target) return undefined;
  const { version, why } = releaseToCopy(context, next);
  if (!version) return undefined;
  const { url, secretRef, certSecretRef, insecure = false, overwrite = false } = target;
  const { tag, digest } = version;
  const last = rollout.status?.copy;
  const isStored = last?.tag === tag && last.url === url && (!digest || last.digest === digest);
  const stored = isStored ? last : undefined;
  const requestedAt = copyRequest(rollout);
  const release = { tag, ...(digest && { digest }), ...(requestedAt !== undefined && { requestedAt }) };
  const isRequested = requestedAt !== undefined && requestedAt !== last?.requestedAt;
  const copy = { version, url, isAwaited: why === 'awaited', begins: false, stored };
  if (stored && !isRequested) return { ...copy, progress: { state: 'Copied', copy: stored } };
  // A version that was deployed before spec.targetRepository was set is not copied afterwards, unless requested.
  const mayBeMissing = why === 'deployed' && !isRequested;
  if (!copyInputs?.source) {
    if (mayBeMissing) return undefined;
    const message = copyInputs?.problem ?? "the Rollout's ImagePolicy has no ImageRepository to copy from";
    return { ...copy, progress: { state: 'Failed', message } };
  }
  const job = copyJob({
    allowLocalRegistries: copyInputs.allowLocalRegistries,
    rollout: identityOf(rollout),
    ...release,
    source: copyInputs.source,
    target: {
      url,
      insecure,
      overwrite,
      ...(secretRef && { secret: secretRef.name }),
      ...(certSecretRef && { certificates: certSecretRef.name }),
    },
    image: copyInputs.image,
  });
  const found = copyInputs.jobs.find(({ metadata }) => metadata.name === job.metadata.name);
  if (mayBeMissing && !found) return undefined;
  const progress = progressOf(job, found, copyInputs.pods[job.metadata.name ?? ''] ?? [], rollout.metadata.uid);
  if (progress.state !== 'Copied') return { ...copy, job, progress, begins: !found };
  return { ...copy, job, progress, stored: { ...progress.copy, url, ...release } };
}

/**
 * The newest version that has Succeeded, by the stored status: Metacontroller creates a Job before it writes the status
 * of the same answer, which the API server may reject.
 */
function newestStored({ history = [], rolledBackReleases = [] }: RolloutStatus = {}): VersionInfo | undefined {
  return succeededDeployments(history).find(({ version }) => !rolledBackReleases.includes(version.tag))?.version;
}

/** The newest request to copy, such as a time; undefined without one. It goes into the status. */
function copyRequest({ metadata }: Rollout): string | undefined {
  const text = metadata.annotations?.[RECONCILE_REQUESTED_AT];
  return text === undefined ? undefined : Array.from(text).slice(0, MAX_REQUEST_CHARACTERS).join('');
}

/**
 * The release to copy, and why: it has succeeded, with AfterBake; it is awaited by its deployment; or it is deployed.
 * An initial version and a rollback don't wait for a copy: they have been deployed before.
 */
function releaseToCopy(
  { observed: { rollout }, state: { history, available } }: RolloutContext,
  next: NextChoice | undefined,
): { version: VersionInfo | undefined; why: 'succeeded' | 'awaited' | 'deployed' } {
  if (!copiesFirst(rollout)) return { version: newestStored(rollout.status), why: 'succeeded' };
  if (!next || next.trigger === 'Rollback' || next.trigger === 'InitialVersion')
    return { version: history[0]?.version, why: 'deployed' };
  const { version: tag } = next;
  return { version: available.find((each) => each.tag === tag) ?? { tag }, why: 'awaited' };
}
