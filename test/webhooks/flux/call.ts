/** Calls an admission handler as the API server would: the answer's patch is applied by an independent library. */
import jsonpatch from 'jsonpatch';
import type { AdmissionRequest, AdmissionResponse, Operation, UserInfo } from '../../../api/admission.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { ClusterReader, EventRecord, WebhookCall } from '../../../api/ports.ts';
import { type AdmissionHandler, reviewOf } from '../../../webhooks/response.ts';
import { NOW } from '../../core/hold/objects.ts';

export interface World {
  objects?: KubeObject<any, any>[];
  now?: number;
  /** `user namespace/gate` pairs that have the verb bypass. */
  mayBypass?: string[];
  /** `user namespace/gate` pairs that may read it. */
  mayGet?: string[];
  glassBreakers?: string[];
  noCrossNamespaceRefs?: boolean;
}

export interface Answer {
  allowed: boolean;
  message: string;
  warnings: string[];
  audit: Record<string, string>;
  events: EventRecord[];
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

const RESOURCES: Record<string, string> = {
  rollouts: 'Rollout',
  gates: 'Gate',
  namespaces: 'Namespace',
  kustomizations: 'Kustomization',
};

export function fakeCluster(objects: KubeObject<any, any>[], reads: string[] = []): ClusterReader {
  const find = (kind: string | undefined, namespace: string | undefined, name?: string) =>
    objects.filter(
      (o) =>
        o.kind === kind &&
        (namespace === undefined || o.metadata.namespace === namespace) &&
        (name === undefined || o.metadata.name === name),
    );
  return {
    async get({ resource, namespace, name }) {
      reads.push(`${resource}/${name}`);
      return find(RESOURCES[resource], namespace, name)[0] as any;
    },
    async list({ resource, namespace, labelSelector, atMost = Number.POSITIVE_INFINITY }) {
      reads.push(`${resource}/*`);
      const [key, value] = labelSelector?.split('=') ?? [];
      const found = find(RESOURCES[resource], namespace);
      return found.filter((o) => !key || o.metadata.labels?.[key] === value).slice(0, atMost) as any;
    },
    async listMetadata({ resource, namespace }) {
      return find(RESOURCES[resource], namespace);
    },
    resourceOf: async () => undefined,
    async serves() {
      return true;
    },
  };
}

export async function send(handler: AdmissionHandler, write: Write, world: World = {}): Promise<Answer> {
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
  const events: EventRecord[] = [];
  const reads: string[] = [];
  const call: WebhookCall = {
    now: world.now ?? NOW,
    cluster: fakeCluster(world.objects ?? [], reads),
    access: {
      async may(user, { verb, namespace, name }) {
        const granted = verb === 'get' ? world.mayGet : world.mayBypass;
        return granted?.includes(`${user.username} ${namespace}/${name}`) ?? false;
      },
    },
    events: { recordWhen: (event) => void events.push(event) },
    settings: {
      onFailure: 'Continue',
      metacontrollerUser: 'system:serviceaccount:metacontroller:metacontroller',
      glassBreakers: world.glassBreakers ?? [],
      noCrossNamespaceRefs: world.noCrossNamespaceRefs ?? false,
    },
  };
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
    reads,
    object: object && response.allowed ? jsonpatch.apply_patch(structuredClone(object), patch) : undefined,
    response,
  };
}
