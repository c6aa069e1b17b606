/** What the copies of spec.targetRepository are made from: where the releases are, this Rollout's Jobs, and what their Pods said. */
import type { ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { CompositeRequest } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import type { Copying, CopyJob, CopySource } from '../../core/copy/job.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';
import { repositoryRef } from '../../core/policy/imagePolicy.ts';
import { servedVersion } from './relatedRules.ts';

/** More than a Job starts; whoever may make Pods may label as many as they like. */
const MAX_PODS = 20;

type ImageRepository = KubeObject<{
  image?: string;
  insecure?: boolean;
  secretRef?: { name?: string };
  certSecretRef?: { name?: string };
}>;

/** undefined where the Rollout has no spec.targetRepository. */
export async function copyingOf(
  request: CompositeRequest,
  policy: ImagePolicy | undefined,
  { cluster, settings }: HookCall,
): Promise<Copying | undefined> {
  const rollout = request.parent as unknown as Rollout;
  if (!rollout.spec?.targetRepository || rollout.metadata.deletionTimestamp) return undefined;
  const image = settings.copyImage ?? '';
  const jobs = objectsOf<CopyJob>(request.children, { group: 'batch', kind: 'Job' });
  // Metacontroller sends a map, even if empty, for each kind of child that the controller has.
  if (request.children?.['Job.batch/v1'] === undefined || image === '') {
    const problem = 'this installation lacks the component release-copies, see docs/install.md';
    return { problem, image, jobs: [], pods: {} };
  }
  const source = policy && (await sourceOf(rollout, policy, cluster));
  const ended = jobs.filter(({ status }) => status?.failed > 0 || status?.conditions?.length > 0);
  const pods = await Promise.all(
    ended.map(async (job) => [job.metadata.name ?? '', await podsOf(job, cluster)] as const),
  );
  const { allowLocalRegistries = false } = settings;
  return { image, allowLocalRegistries, ...(source && { source }), jobs, pods: Object.fromEntries(pods) };
}

async function sourceOf(
  rollout: Rollout,
  policy: ImagePolicy,
  cluster: ClusterReader,
): Promise<CopySource | undefined> {
  const ref = repositoryRef(policy);
  const apiVersion = ref && (await servedVersion(KINDS.ImageRepository, cluster));
  if (!apiVersion) return undefined;
  const { resource } = KINDS.ImageRepository;
  const { image, insecure, secretRef, certSecretRef } =
    (await cluster.get<ImageRepository>({ apiVersion, resource, ...ref }))?.spec ?? {};
  if (!image) return undefined;
  // A Pod mounts Secrets of its own namespace only.
  const isOurs = ref.namespace === rollout.metadata.namespace;
  return {
    image,
    ...(insecure && { insecure }),
    ...(isOurs && secretRef?.name && { secret: secretRef.name }),
    ...(isOurs && certSecretRef?.name && { certificates: certSecretRef.name }),
  };
}

/** Oldest first. */
async function podsOf({ metadata }: CopyJob, cluster: ClusterReader): Promise<CopyJob[]> {
  const { namespace = '', name, uid } = metadata;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const pods = await cluster.list<CopyJob>({
    apiVersion: 'v1',
    resource: 'pods',
    namespace,
    labelSelector,
    atMost: MAX_PODS,
  });
  const own = pods.filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const madeAt = ({ metadata }: CopyJob) => metadata.creationTimestamp ?? '';
  return own.sort((a, b) => (madeAt(a) < madeAt(b) ? -1 : 1));
}
