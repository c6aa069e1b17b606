/**
 * The API server: resourceVersion and conflicts, generation, the status subresource, server-side apply, finalizers,
 * watches, RBAC, admission and policies. Answers take no time; the network's delays are in dev/sim/cluster/process.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionRequest, AdmissionResponse, UserInfo } from '../../../api/admission.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { ConnectionRequest } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { requestOf } from '../../fakes/requests.ts';
import { matching } from '../../fakes/selectors.ts';
import { may } from './access.ts';
import { mutate, type OtherWebhook, Refusal, validate } from './admission.ts';
import { resourcesOf } from './kinds.ts';
import { withOwners } from './managedFields.ts';
import { bodyOf, requestedObject, type Target, targetOf } from './requests.ts';
import { keyOf, Storage, type StoredEvent } from './storage.ts';
import { settled, sharing } from './values.ts';

interface ServerContext {
  now(): number;
  callWebhook(path: string, request: AdmissionRequest): Promise<AdmissionResponse>;
  otherWebhook?: OtherWebhook;
  /** Called when a write is stored or refused, even if the server dies before the client has the answer. */
  answered?(write: AnsweredWrite): void;
}

export interface AnsweredWrite {
  user: string;
  request: ConnectionRequest;
  code: number;
  message: string;
  receivedRevision: number;
  receivedMs: number;
  answeredRevision: number;
  answeredMs: number;
  /** The stored object after the write. */
  object: AnyObject | undefined;
  bypass?: string;
  /** Whether a webhook that may fail didn't answer. */
  hasFailedOpen?: true;
}

type Grant = Pick<AnsweredWrite, 'bypass' | 'hasFailedOpen'>;

/** The most attempts at a write of an object that changes meanwhile. */
const ATTEMPTS = 5;
const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

export class ApiServer {
  readonly storage: Storage;
  readonly #context: ServerContext;
  /** Incremented when the server dies: a write of an earlier life is never stored. */
  #life = 0;
  #uids = 0;
  #reviews = 0;

  constructor(context: ServerContext) {
    this.#context = context;
    this.storage = new Storage(() => context.now());
  }

  /** Loses the writes that aren't stored yet. */
  die(): void {
    this.#life++;
  }

  async handle(user: UserInfo, request: ConnectionRequest): Promise<{ code: number; body: unknown }> {
    const received = { receivedRevision: this.storage.revision, receivedMs: this.#context.now() };
    const grant: Grant = {};
    const record = (code: number, message: string, object?: AnyObject) => {
      if (request.method === 'GET') return;
      const answered = { answeredRevision: this.storage.revision, answeredMs: this.#context.now() };
      this.#context.answered?.({
        ...received,
        ...answered,
        user: user.username,
        request,
        code,
        message,
        object,
        ...grant,
      });
    };
    try {
      const body = await this.#answer(user, request, grant);
      const isWrite = request.method !== 'GET' && 'metadata' in body;
      record(200, '', isWrite ? (body as AnyObject) : undefined);
      return { code: request.method === 'POST' ? 201 : 200, body };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, reason, message } = error;
      record(code, message);
      return { code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message } };
    }
  }

  /** Events of a resource after the revision. */
  eventsOf({ kind }: Target, after: number): StoredEvent[] {
    const resource = `${kind.group}/${kind.resource}`;
    const { events } = this.storage;
    let from = events.length;
    while (from > 0 && events[from - 1]!.revision > after) from--;
    return events.slice(from).filter((event) => event.resource === resource);
  }

  async #answer(user: UserInfo, request: ConnectionRequest, grant: Grant): Promise<object> {
    const { method, path } = request;
    if (path.endsWith('/subjectaccessreviews')) return reviewed(bodyOf(request));
    const target = targetOf(path);
    if (!target) return { resources: resourcesOf(...groupVersionOf(path)) };
    const { kind, name, namespace, subresource } = target;
    this.#authorize(user, method === 'GET' && !name ? 'list' : VERBS[method]!, target);
    const resource = `${kind.group}/${kind.resource}`;
    if (method === 'GET' && name) return this.#existing(target);
    if (method === 'GET') {
      const items = this.storage.list(resource, namespace).filter(matching(Object.fromEntries(target.query)));
      const isMetadata = request.headers.accept?.includes('PartialObjectMetadata');
      return {
        kind: `${kind.kind}List`,
        apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
        metadata: { resourceVersion: String(this.storage.revision) },
        items: isMetadata ? items.map(({ metadata }) => ({ metadata })) : items,
      };
    }
    if (method === 'DELETE') return this.#remove(user, request, target);
    if (subresource !== undefined && subresource !== 'status') throw new Refusal(404, 'NotFound', `no ${subresource}`);
    return this.#write(user, request, target, grant);
  }

  #authorize(user: UserInfo, verb: string, { kind, subresource, name }: Target): void {
    const resource = subresource ? `${kind.resource}/${subresource}` : kind.resource;
    if (may(user, { verb, group: kind.group, resource })) return;
    throw new Refusal(403, 'Forbidden', `${resource} "${name}" is forbidden: ${user.username} cannot ${verb} it`);
  }

  #existing({ kind, namespace, name }: Target): AnyObject {
    const found = this.storage.get(`${kind.group}/${kind.resource}`, `${namespace}/${name}`);
    if (!found) throw new Refusal(404, 'NotFound', `${kind.resource} "${name}" not found`);
    return found;
  }

  async #write(user: UserInfo, request: ConnectionRequest, target: Target, grant: Grant): Promise<AnyObject> {
    const { kind, namespace, query, subresource } = target;
    const resource = `${kind.group}/${kind.resource}`;
    const isApply = request.headers['content-type']?.startsWith('application/apply-patch') === true;
    const manager = query.get('fieldManager') ?? managerOf(request);
    for (let attempt = 1; ; attempt++) {
      const life = this.#life;
      const body = request.method === 'POST' ? bodyOf(request) : undefined;
      const name = body?.metadata.name ?? target.name;
      const old = this.storage.get(resource, `${namespace}/${name}`);
      if (request.method === 'POST' && old)
        throw new Refusal(409, 'AlreadyExists', `${kind.resource} "${name}" already exists`);
      if (!old && request.method !== 'POST' && !isApply)
        throw new Refusal(404, 'NotFound', `${kind.resource} "${name}" not found`);
      const sent = requestedObject(request, old, manager);
      const stated = sent.metadata?.resourceVersion;
      if (old && stated !== undefined && stated !== old.metadata.resourceVersion)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": the object has been modified`);
      if (old && sent.metadata?.uid !== undefined && sent.metadata.uid !== old.metadata.uid)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": uid mismatch`);
      const shape = (object: AnyObject) => sharing(settled(this.#shaped(object, old, target, name)), old);
      // As in Kubernetes, fields that webhooks add have no field manager.
      const object = subresource
        ? shape(sent)
        : sharing(
            settled(
              withFieldOwners(shape(sent), old, manager, this.#context.now(), isApply ? bodyOf(request) : undefined),
            ),
            old,
          );
      const options = { fieldManager: manager };
      const write = requestOf({ ...admissionOf(user, target), name, object, oldObject: old ?? null, options });
      const call = this.#webhookCaller(grant);
      const mutated = (await mutate(write, call, shape, subresource ? undefined : this.#context.otherWebhook))!;
      const next = settled(withGeneration(this.#named(mutated), old, subresource));
      const problems = kind.schema?.problems(next, old) ?? [];
      if (problems.length > 0)
        throw new Refusal(422, 'Invalid', `${kind.kind} "${name}" is invalid: ${problems.join('; ')}`);
      await validate({ ...write, object: next }, call);
      if (life !== this.#life) return new Promise(() => {});
      if (this.storage.get(resource, `${namespace}/${name}`) !== old) {
        if (attempt < ATTEMPTS && (request.method === 'PATCH' || stated === undefined)) continue;
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": the object has been modified`);
      }
      if (write.dryRun || (old && isUnchanged(next, old))) return next;
      if (old && next.metadata.deletionTimestamp && !next.metadata.finalizers?.length) {
        this.storage.remove(resource, next);
        return next;
      }
      return this.storage.put(resource, next);
    }
  }

  /** The object with a name: as in Kubernetes, mutating webhooks see one with `generateName` before it has a name. */
  #named(object: AnyObject): AnyObject {
    const { name, generateName } = object.metadata as { name?: string; generateName?: string };
    return name ? object : { ...object, metadata: { ...object.metadata, name: `${generateName}${this.#uids}` } };
  }

  /** The object with the metadata that clients can't change restored, and pruned by the schema. */
  #shaped(
    object: AnyObject,
    old: AnyObject | undefined,
    { kind, namespace, subresource }: Target,
    name: string,
  ): AnyObject {
    const metadata: AnyObject['metadata'] = {
      ...withoutEmpty(object.metadata, ['annotations', 'labels', 'finalizers', 'ownerReferences', 'managedFields']),
      ...(subresource && old && { ...old.metadata, managedFields: object.metadata.managedFields }),
      ...(name && { name }),
      ...(namespace && { namespace }),
      uid: old?.metadata.uid ?? `uid-${kind.resource}-${++this.#uids}`,
      creationTimestamp: old?.metadata.creationTimestamp ?? timestamp(this.#context.now()),
      resourceVersion: old?.metadata.resourceVersion,
      generation: old?.metadata.generation ?? 1,
      deletionTimestamp: old?.metadata.deletionTimestamp,
    };
    for (const key of Object.keys(metadata)) if ((metadata as any)[key] === undefined) delete (metadata as any)[key];
    let result: AnyObject = { ...object, metadata };
    if (kind.hasStatus) {
      // A write of the spec doesn't change the status, nor a write of the status the rest.
      const { status: _, ...rest } = subresource === 'status' && old ? { ...old, metadata } : result;
      const status = subresource === 'status' ? object.status : old?.status;
      result = { ...rest, ...(status !== undefined && { status }) } as AnyObject;
    }
    return kind.schema?.prepare(result) ?? result;
  }

  #webhookCaller(grant: Grant): (path: string, request: AdmissionRequest) => Promise<AdmissionResponse> {
    return async (path, request) => {
      const uid = `review-${++this.#reviews}`;
      const response = await this.#context.callWebhook(path, { ...request, uid }).catch((error) => {
        grant.hasFailedOpen = true;
        throw error;
      });
      const bypass = Object.entries(response.auditAnnotations ?? {}).find(([name]) => name.endsWith('bypass'))?.[1];
      if (bypass !== undefined) grant.bypass = bypass;
      return response;
    };
  }

  async #remove(user: UserInfo, request: ConnectionRequest, target: Target): Promise<AnyObject> {
    const { kind, namespace, name } = target;
    const resource = `${kind.group}/${kind.resource}`;
    const options = bodyOf(request);
    for (;;) {
      const life = this.#life;
      const old = this.#existing(target);
      const { uid } = options.preconditions ?? {};
      if (uid !== undefined && uid !== old.metadata.uid)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": the UID in the precondition is another one`);
      const write = requestOf({ ...admissionOf(user, target), oldObject: old, options: {} });
      const call = this.#webhookCaller({});
      await mutate(write, call, (object) => object);
      await validate(write, call);
      if (life !== this.#life) return new Promise(() => {});
      if (this.storage.get(resource, `${namespace}/${name}`) !== old) continue;
      if (write.dryRun) return old;
      if (!old.metadata.finalizers?.length) {
        this.storage.remove(resource, old);
        return old;
      }
      if (old.metadata.deletionTimestamp) return old;
      const deletionTimestamp = timestamp(this.#context.now());
      const generation = (old.metadata.generation ?? 1) + 1;
      return this.storage.put(resource, { ...old, metadata: { ...old.metadata, deletionTimestamp, generation } });
    }
  }
}

function reviewed({ spec }: AnyObject): object {
  const { user, groups, resourceAttributes } = spec;
  return { status: { allowed: may({ username: user, groups }, resourceAttributes) } };
}

function groupVersionOf(path: string): [group: string, version: string] {
  const parts = path.split('?')[0]!.split('/').filter(Boolean);
  return parts[0] === 'api' ? ['', parts[1] ?? ''] : [parts[1] ?? '', parts[2] ?? ''];
}

/** The parts of an admission request that come from the request to the API server, without the objects. */
function admissionOf(
  userInfo: UserInfo,
  { kind, namespace, name, subresource, query }: Target,
): Partial<AdmissionRequest> {
  const { group, version, resource } = kind;
  return {
    resource: { group, version, resource },
    ...(subresource && { subResource: subresource }),
    namespace,
    name,
    userInfo,
    dryRun: query.get('dryRun') === 'All',
  };
}

/** The default field manager: the user agent up to the slash. */
const managerOf = ({ headers }: ConnectionRequest) => (headers['user-agent'] ?? 'unknown').split('/')[0]!;

/** The metadata without these keys if their map or list is empty. */
function withoutEmpty(metadata: AnyObject['metadata'], keys: readonly string[]): AnyObject['metadata'] {
  const entries = Object.entries(metadata ?? {}).filter(
    ([key, value]) => !(keys.includes(key) && (value === null || Object.keys(value as object).length === 0)),
  );
  return Object.fromEntries(entries) as AnyObject['metadata'];
}

/** The object with its field owners after the write. `applied`: the body of a server-side apply. */
function withFieldOwners(
  object: AnyObject,
  old: AnyObject | undefined,
  manager: string,
  now: number,
  applied: AnyObject | undefined,
): AnyObject {
  const managedFields = object.metadata.managedFields ?? old?.metadata.managedFields;
  const before = old && { ...old, metadata: { ...old.metadata, managedFields } };
  return withOwners(object, before, manager, applied ? 'Apply' : 'Update', applied, timestamp(now));
}

function withGeneration(object: AnyObject, old: AnyObject | undefined, subresource: string | undefined): AnyObject {
  if (!old || subresource) return object;
  const content = ({ metadata: _, status: __, ...rest }: AnyObject) => rest;
  const isSame = isDeepStrictEqual(content(object), content(old));
  const generation = (old.metadata.generation ?? 1) + (isSame ? 0 : 1);
  return { ...object, metadata: { ...object.metadata, generation } };
}

function isUnchanged(next: AnyObject, old: AnyObject): boolean {
  return keyOf(next) === keyOf(old) && isDeepStrictEqual(next, old);
}
