/** The inputs of the copies to spec.targetRepository. */
import type { ImagePolicy, ImageRepository } from '../../api/flux.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { objectsOf, sendsKind } from '../../core/kube/objectMap.ts';
import { repositoryRef } from '../../core/policy/imagePolicy.ts';
import type { CopyInputs, CopyJob, CopySource } from '../../core/releaseCopy/job.ts';
import { JOB, podsOfJob, readServed } from '../../live/objectReads.ts';

/**
 * The most Pods that are read for a Job. A Job starts fewer, but any user who may create Pods can give others its
 * label.
 */
const MAX_PODS_READ = 20;

/** The inputs of the Rollout's copies; undefined without spec.targetRepository. */
export async function readCopyInputs(
  { parent: rollout, children }: CompositeRequest<Rollout>,
  policy: ImagePolicy | undefined,
  { cluster, settings }: HookCall,
): Promise<CopyInputs | undefined> {
  if (!rollout.spec?.targetRepository || rollout.metadata.deletionTimestamp) return undefined;
  const image = settings.copyImage ?? '';
  const jobs = objectsOf<CopyJob>(children, JOB);
  if (!sendsKind(children, JOB) || image === '') {
    const problem = 'the component release-copies is not installed';
    return { problem, image, jobs: [], pods: {} };
  }
  const source = policy && (await readCopySource(rollout, policy, cluster));
  const ended = jobs.filter(({ status }) => status?.failed > 0 || status?.conditions?.length > 0);
  const pods = await Promise.all(
    ended.map(async (job) => [job.metadata.name ?? '', await podsOf(job, cluster)] as const),
  );
  const { allowLocalRegistries = false } = settings;
  return { image, allowLocalRegistries, source, jobs, pods: Object.fromEntries(pods) };
}

async function readCopySource(
  rollout: Rollout,
  policy: ImagePolicy,
  cluster: ClusterReader,
): Promise<CopySource | undefined> {
  const ref = repositoryRef(policy);
  if (!ref) return undefined;
  const repository = await readServed<ImageRepository>('ImageRepository', ref, cluster);
  const { image, insecure, secretRef, certSecretRef } = repository?.spec ?? {};
  if (!image) return undefined;
  // A Pod can only mount Secrets of its own namespace.
  const isOurs = ref.namespace === rollout.metadata.namespace;
  return {
    image,
    ...(insecure && { insecure }),
    ...(isOurs && secretRef?.name && { secret: secretRef.name }),
    ...(isOurs && certSecretRef?.name && { certificates: certSecretRef.name }),
  };
}

/** The Job's Pods, the oldest first. */
async function podsOf(job: CopyJob, cluster: ClusterReader): Promise<AnyObject[]> {
  const madeAt = ({ metadata }: AnyObject) => metadata.creationTimestamp ?? '';
  return (await podsOfJob(job, MAX_PODS_READ, cluster)).sort((a, b) => (madeAt(a) < madeAt(b) ? -1 : 1));
}
