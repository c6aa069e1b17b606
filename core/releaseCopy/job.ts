/**
 * The Job that copies one release, and its progress. Its name has a hash of its whole spec: another copy is another
 * Job, because a Job can't be changed.
 */
import { COPY_LABEL, RECONCILE_REQUESTED_AT } from '../../api/annotations.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import { findCondition } from '../kube/conditions.ts';
import { childOf, isMap, sameJson } from '../kube/json.ts';
import { labelValue, namePrefix, shortHash } from '../kube/names.ts';
import { isControlledBy } from '../kube/ownerReferences.ts';
import { isDigest } from './manifest.ts';
import { COPY_OUTCOMES, type CopyOutcome } from './outcome.ts';

/** The image to copy from. */
export interface CopySource {
  /** The ImageRepository's image. */
  image: string;
  insecure?: boolean;
  /** Secrets of the Rollout's namespace: credentials and certificate authorities. */
  secret?: string;
  certificates?: string;
}

interface CopyTarget {
  url: string;
  insecure?: boolean;
  /** Secrets of the Rollout's namespace: credentials and certificate authorities. */
  secret?: string;
  certificates?: string;
  overwrite?: boolean;
}

/** Everything that defines one copy, and so its Job. */
export interface CopyOrder {
  rollout: NamespacedName;
  tag: string;
  digest?: string;
  /** The user's request for this copy: another request is another Job. */
  requestedAt?: string;
  source: CopySource;
  target: CopyTarget;
  /** The image of rollout-hooks. */
  image: string;
  allowLocalRegistries?: boolean;
}

export type CopyJob = AnyObject;

/** The inputs of copies; read only if spec.targetRepository is set. */
export interface CopyInputs {
  /** Why nothing can be copied: then there is no source. */
  problem?: string;
  /** The image of rollout-hooks. */
  image: string;
  /** Whether a registry may be on the machine that copies. */
  allowLocalRegistries?: boolean;
  source?: CopySource;
  /** The Rollout's Jobs. */
  jobs: readonly CopyJob[];
  /** The Pods, oldest first, by the name of their Job; only of Jobs that have ended or have a failed Pod. */
  pods: Readonly<Record<string, readonly AnyObject[]>>;
}

/** A Job's name is a label of its Pods, whose own names have a suffix. */
const MAX_PREFIX_CHARACTERS = 40;
/** The time for all attempts: twice what one attempt may take (`--timeout` of copy/main.ts). */
const DEADLINE_SECONDS = 7200;
const MAX_RETRIES = 4;
const CONTAINER = 'copy';
/** Outcomes that another attempt would repeat. */
const FINAL_OUTCOMES: CopyOutcome[] = ['Usage', 'Conflict', 'Denied', 'NotFound', 'Invalid', 'Full'];
/** The user of the image. */
const USER_ID = 65532;

export function copyJob({
  rollout: { namespace, name },
  image,
  allowLocalRegistries,
  requestedAt,
  ...order
}: CopyOrder): CopyJob {
  const volumes = volumesOf(order);
  const spec = {
    // Kubernetes' defaults, written out because `whyForeign` compares them: a Job that ends without a Pod must not
    // count.
    completions: 1,
    parallelism: 1,
    completionMode: 'NonIndexed',
    backoffLimit: MAX_RETRIES,
    activeDeadlineSeconds: DEADLINE_SECONDS,
    podFailurePolicy: {
      rules: [
        {
          action: 'FailJob',
          onExitCodes: {
            containerName: CONTAINER,
            operator: 'In',
            values: FINAL_OUTCOMES.map((outcome) => COPY_OUTCOMES[outcome]),
          },
        },
        // A drained node is no failure of the copy.
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
    template: {
      metadata: {
        labels: { [COPY_LABEL]: labelValue(name) },
        ...(requestedAt !== undefined && { annotations: { [RECONCILE_REQUESTED_AT]: requestedAt } }),
      },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: USER_ID,
          runAsGroup: USER_ID,
          fsGroup: USER_ID,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            name: CONTAINER,
            image,
            command: ['node', 'copy/main.ts'],
            args: argumentsOf(order),
            ...(allowLocalRegistries && { env: [{ name: 'ALLOW_LOCAL_REGISTRIES', value: 'true' }] }),
            resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            ...(volumes.length > 0 && {
              volumeMounts: volumes.map(({ name }) => ({ name, mountPath: folderOf(name), readOnly: true })),
            }),
          },
        ],
        ...(volumes.length > 0 && { volumes }),
      },
    },
  };
  const begin = namePrefix(name, MAX_PREFIX_CHARACTERS);
  const hash = shortHash(JSON.stringify(spec));
  const metadata = { name: `${begin}-copy-${hash}`, namespace, labels: { [COPY_LABEL]: labelValue(name) } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec };
}

/**
 * Why the Job with the wanted name isn't the wanted Job; undefined if it is. Users who may write Jobs can compute the
 * name, and create a Job that ends at once. Fields that the API server and the cluster's policies have added don't
 * count.
 * @param owner the uid of the Rollout
 */
function whyForeign(found: CopyJob, wanted: CopyJob, owner: string | undefined): string | undefined {
  if (!isControlledBy(found, owner)) return 'it does not belong to this Rollout';
  const path = firstDifference(wanted.spec, found.spec, 'spec');
  return path && `its ${path} differs`;
}

/** The path of the first field of `wanted` that `found` lacks or has with another value; undefined if it has all. */
function firstDifference(wanted: unknown, found: unknown, path: string): string | undefined {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return path;
    return firstResult(wanted.keys(), (i) => firstDifference(wanted[i], found[i], `${path}[${i}]`));
  }
  if (!isMap(wanted)) return sameJson(wanted, found) ? undefined : path;
  if (!isMap(found)) return path;
  return firstResult(Object.keys(wanted), (key) => firstDifference(wanted[key], childOf(found, key), `${path}.${key}`));
}

function firstResult<T>(values: Iterable<T>, find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const path = find(value);
    if (path !== undefined) return path;
  }
  return undefined;
}

type Order = Omit<CopyOrder, 'rollout' | 'image' | 'allowLocalRegistries' | 'requestedAt'>;

/** The arguments of copy/main.ts, as `--name=value`: a value that begins with a dash stays a value. */
function argumentsOf({ tag, digest, source, target }: Order): string[] {
  return [
    `--source=${source.image}`,
    `--target=${target.url}`,
    `--tag=${tag}`,
    ...(digest === undefined ? [] : [`--digest=${digest}`]),
    ...(source.insecure ? ['--source-insecure'] : []),
    ...(target.insecure ? ['--target-insecure'] : []),
    ...(target.overwrite ? ['--overwrite'] : []),
    ...volumesOf({ source, target }).map(({ name }) => `--${name}=${folderOf(name)}`),
  ];
}

/** The volumes with Secrets, named after the options that take them. */
function volumesOf({ source, target }: Pick<Order, 'source' | 'target'>) {
  const secrets: [string, string | undefined][] = [
    ['source-secret', source.secret],
    ['source-certificates', source.certificates],
    ['target-secret', target.secret],
    ['target-certificates', target.certificates],
  ];
  return secrets.flatMap(([name, secretName]) => (secretName === undefined ? [] : [{ name, secret: { secretName } }]));
}

const folderOf = (volume: string) => `/etc/rollout-hooks/${volume}`;

// The progress of a copy: from its Job's status, and from the termination messages of its Pods.

/** The result of copy/main.ts, in a Pod's termination message. */
interface Result {
  message?: string;
  digest?: string;
  bytes?: number;
  uploadedBytes?: number;
}

interface Copy {
  digest?: string;
  bytes?: number;
  uploadedBytes?: number;
  /** RFC 3339. */
  time?: string;
}

export type CopyProgress = { state: 'Copying' | 'Failed'; message: string } | { state: 'Copied'; copy: Copy };

/** Characters of a Pod's message: users who may write Pods can make it any length. */
const MAX_MESSAGE_CHARACTERS = 1024;

/**
 * The progress of a copy.
 * @param found the Job of the wanted name in the cluster; undefined while there is none
 * @param pods the Pods of that Job
 * @param owner the uid of the Rollout
 */
export function progressOf(
  wanted: CopyJob,
  found: CopyJob | undefined,
  pods: readonly AnyObject[],
  owner: string | undefined,
): CopyProgress {
  const name = `Job '${wanted.metadata.name}'`;
  if (!found)
    return {
      state: 'Copying',
      message: `${name} does not exist yet; if it does not appear, Metacontroller isn't allowed to create Jobs in its namespace`,
    };
  const foreign = whyForeign(found, wanted, owner);
  if (foreign !== undefined) {
    return {
      state: 'Failed',
      message: `${name} is not the Job of this copy: ${foreign}. To start the copy, delete it`,
    };
  }
  const { conditions = [], failed = 0, completionTime } = found.status ?? {};
  const results = pods.map(resultOf).filter((result) => result !== undefined);
  const last = results.at(-1);
  if (findCondition(conditions, 'Complete')?.status === 'True') {
    const { message: _, ...copy } = results.find(({ digest }) => digest !== undefined) ?? {};
    return { state: 'Copied', copy: { ...copy, ...(typeof completionTime === 'string' && { time: completionTime }) } };
  }
  const failure = findCondition(conditions, 'Failed');
  if (failure?.status === 'True') {
    const why = last?.message ?? failure.message.slice(0, MAX_MESSAGE_CHARACTERS);
    return { state: 'Failed', message: `${why}. ${name} is not started again automatically: to retry, delete it` };
  }
  if (!(failed > 0)) return { state: 'Copying', message: `${name} runs` };
  return {
    state: 'Copying',
    message: `${name} has failed ${failed === 1 ? 'once' : `${failed} times`} and is tried again${last?.message ? `: ${last.message}` : ''}`,
  };
}

function resultOf({ status }: AnyObject): Result | undefined {
  const text = status?.containerStatuses?.[0]?.state?.terminated?.message;
  if (typeof text !== 'string') return undefined;
  const { message, digest, bytes, uploadedBytes } = parseObject(text);
  return {
    ...(typeof message === 'string' && { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }),
    ...(isDigest(digest) && { digest }),
    ...(isSize(bytes) && { bytes }),
    ...(isSize(uploadedBytes) && { uploadedBytes }),
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isMap(value) ? value : {};
  } catch {
    return {};
  }
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
