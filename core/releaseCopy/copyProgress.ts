/** The progress of a copy: from its Job's status, and from the termination messages of its Pods. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { findCondition } from '../kube/conditions.ts';
import { isMap } from '../kube/json.ts';
import { type CopyJob, whyForeign } from './job.ts';
import { isDigest } from './manifest.ts';

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

/** Users who may write Pods may write a message of any length. */
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
      message: `${name} does not belong to this Rollout: ${foreign}. To start the copy, delete it`,
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
