/** Calls an admission handler as the API server would: the answer's patch is applied by an independent library. */
import jsonpatch from 'jsonpatch';
import type { AdmissionRequest, AdmissionResponse, Operation, UserInfo } from '../../../api/admission.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Count } from '../../../api/metrics.ts';
import type { EventRecord } from '../../../api/ports.ts';
import { fakeCluster, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { type AdmissionHandler, reviewOf } from '../../../webhooks/response.ts';
import { NOW } from '../../core/admission/objects.ts';

export interface World {
  objects?: KubeObject<any, any>[];
  now?: number;
  /** `user namespace/gate` pairs that have the verb bypass. */
  mayBypass?: string[];
  /** `user namespace/gate` pairs that may read it. */
  mayGet?: string[];
  bypassServiceAccounts?: string[];
  noCrossNamespaceRefs?: boolean;
  /** Plurals of kinds that cannot be read. */
  broken?: string[];
}

export interface Answer {
  allowed: boolean;
  message: string;
  warnings: string[];
  audit: Record<string, string>;
  events: EventRecord[];
  counts: Count[];
  /** `resource/name` of every live read. */
  reads: string[];
  /** As the API server would store it. */
  object: FluxObject | undefined;
  response: AdmissionResponse;
}

export interface Write {
  operation?: Operation;
  object?: FluxObject | null;
  oldObject?: FluxObject | null;
  user?: UserInfo;
  dryRun?: boolean;
  options?: Record<string, unknown>;
  subResource?: string;
  name?: string;
}

export async function send(handler: AdmissionHandler, write: Write, context: World = {}): Promise<Answer> {
  const object = write.object ?? null;
  const oldObject = write.oldObject ?? null;
  const about = (object ?? oldObject)!;
  const operation = write.operation ?? (object ? (oldObject ? 'UPDATE' : 'CREATE') : 'DELETE');
  const [group = '', version = ''] = about.apiVersion.split('/');
  const request: AdmissionRequest = {
    uid: 'request-uid',
    kind: { group, version, kind: about.kind },
    resource: { group, version, resource: `${about.kind.toLowerCase()}s` },
    name: write.name ?? about.metadata.name ?? '',
    namespace: about.metadata.namespace ?? '',
    operation,
    userInfo: write.user ?? { username: 'developer', groups: ['system:authenticated'] },
    object,
    oldObject,
    dryRun: write.dryRun ?? false,
    options: write.options ?? null,
    ...(write.subResource && { subResource: write.subResource }),
  };
  const reads: string[] = [];
  const cluster = fakeCluster(context.objects ?? [], {
    onRequest({ resource, name = '*' }) {
      reads.push(`${resource}/${name}`);
      if (context.broken?.includes(resource)) throw new Error(`${resource} cannot be read`);
    },
  });
  const { call, events, counts } = fakeWebhookCall({
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
  const input = JSON.stringify(request);
  const response = reviewOf(request, await handler(request, call)).response!;
  if (JSON.stringify(request) !== input) throw new Error('the handler changed its request in place');
  const patch = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
  return {
    allowed: response.allowed,
    message: response.status?.message ?? '',
    warnings: response.warnings ?? [],
    audit: response.auditAnnotations ?? {},
    events,
    counts,
    reads,
    object: object && response.allowed ? jsonpatch.apply_patch(structuredClone(object), patch) : undefined,
    response,
  };
}
