/** Makes planned writes: sends them to the API server, and plans them again if their object has changed. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { unrecordedProblem } from '../../client/actions/writes/approvalChange.ts';
import {
  basisProblem,
  existsText,
  isRequest,
  type NoRequest,
  type PlannedWrite,
  type WriteRequest,
} from '../../client/actions/writes/plannedWrite.ts';
import { Problem } from '../../client/problem.ts';
import { isApiError, type KubeClient } from './kubeClient.ts';

/** The most attempts of a write that conflicts with writes of other clients; further conflicts mean a loop. */
const MAX_ATTEMPTS = 5;

export interface Sent {
  request: WriteRequest;
  /** The object that the API server has stored, or would store. */
  object: AnyObject;
  warnings: readonly string[];
  /** Why the write has no effect although the API server has accepted it. */
  unrecorded?: string | undefined;
}

interface SendOptions {
  dryRun?: boolean;
  /** The state that the user saw; without it the state of the first plan. */
  offered?: { basis: string | undefined };
  /** Called before each attempt. */
  before?: (request: WriteRequest) => Promise<void> | void;
}

/** Makes a write. @throws Problem if the state is not the one that the user saw, or the new object exists */
export async function makeWrite(
  client: KubeClient,
  plan: () => Promise<PlannedWrite> | PlannedWrite,
  { dryRun = false, offered, before }: SendOptions = {},
): Promise<Sent | NoRequest> {
  let seen = offered;
  for (let attempt = 1; ; attempt++) {
    const request = await plan();
    if (!isRequest(request)) return request;
    seen ??= { basis: request.basis };
    const changed = basisProblem(seen.basis, request);
    if (changed) throw new Problem(changed);
    await before?.(request);
    try {
      const { object, warnings } = await send(client, request, dryRun);
      return { request, object, warnings, unrecorded: unrecordedProblem(request, object) };
    } catch (error) {
      if (!isApiError(error, 409)) throw error;
      if (request.creates) throw new Problem(existsText(request.object));
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function send(client: KubeClient, { apiVersion, object, body, creates }: WriteRequest, dryRun: boolean) {
  const { resource, namespace, name } = object;
  const to = { apiVersion, resource, namespace: namespace || undefined };
  return creates
    ? client.create<AnyObject>(to, body, { dryRun })
    : client.patch<AnyObject>({ ...to, name }, body, { dryRun });
}
