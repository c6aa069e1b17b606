/** A write of a Flux object to an admission handler, in a cluster of these objects. */
import type { AdmissionRequest, AdmissionResponse, UserInfo } from '../../../api/admission.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Count } from '../../../api/metrics.ts';
import type { EventRecord, StoredFact } from '../../../api/ports.ts';
import { fakeCluster, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import type { AdmissionHandler } from '../../../webhooks/response.ts';
import { NOW } from '../../core/admission/objects.ts';
import { review } from '../../support/admission.ts';

export interface StoredContext {
  objects?: KubeObject<any, any>[];
  now?: number;
  /** `user namespace/gate` pairs that have the verb bypass. */
  mayBypass?: string[];
  /** `user namespace/gate` pairs with the right to read it. */
  mayGet?: string[];
  bypassServiceAccounts?: string[];
  noCrossNamespaceRefs?: boolean;
  /** Plurals of unreadable kinds. */
  broken?: string[];
}

export interface Answer {
  allowed: boolean;
  message: string;
  warnings: string[];
  audit: Record<string, string>;
  events: EventRecord[];
  /** The fact that each of the Events waits for. */
  facts: StoredFact[];
  counts: Count[];
  /** `resource/name` of every live read. */
  reads: string[];
  /** The object as the API server would store it. */
  object: FluxObject | undefined;
  response: AdmissionResponse;
}

export interface Write {
  object?: FluxObject | null;
  oldObject?: FluxObject | null;
  user?: UserInfo;
  dryRun?: boolean;
  options?: Record<string, unknown>;
  subResource?: string;
  name?: string;
}

export async function send(handler: AdmissionHandler, write: Write, context: StoredContext = {}): Promise<Answer> {
  const { user = { username: 'developer', groups: ['system:authenticated'] }, dryRun = false, ...rest } = write;
  const request = requestOf({ ...rest, userInfo: user, dryRun } as Partial<AdmissionRequest>);
  const reads: string[] = [];
  const cluster = fakeCluster(context.objects ?? [], {
    onRequest({ resource, name = '*' }) {
      reads.push(`${resource}/${name}`);
      if (context.broken?.includes(resource)) throw new Error(`${resource} cannot be read`);
    },
  });
  const { call, events, facts, counts } = fakeWebhookCall({
    now: context.now ?? NOW,
    cluster,
    access: {
      async may(user, { verb, namespace, name }) {
        const granted = verb === 'get' ? context.mayGet : context.mayBypass;
        return granted?.includes(`${user.username} ${namespace}/${name}`) ?? false;
      },
    },
    settings: {
      bypassServiceAccounts: context.bypassServiceAccounts ?? [],
      noCrossNamespaceRefs: context.noCrossNamespaceRefs ?? false,
    },
  });
  const { response, object } = await review(handler, request, call);
  return {
    allowed: response.allowed,
    message: response.status?.message ?? '',
    warnings: response.warnings ?? [],
    audit: response.auditAnnotations ?? {},
    events,
    facts,
    counts,
    reads,
    object: object as FluxObject | undefined,
    response,
  };
}
