/**
 * The API server: resourceVersion and conflicts, generation, the status subresource, server-side apply, finalizers, watches, RBAC, admission and
 * policies. It answers at once; what a network adds is connection.ts's.
 */
import type { AdmissionRequest, AdmissionResponse, UserInfo } from '../../../api/admission.ts';
import type { ConnectionRequest } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { jsonEqual } from '../../engine/json/json.ts';
import { withOwners } from '../../fakes/managedFields.ts';
import { matching } from '../../fakes/selectors.ts';
import { may } from './access.ts';
import { mutate, Refusal, validate, type Write } from './admission.ts';
import { resourcesOf } from './kinds.ts';
import { bodyOf, type Target, targetOf, wanted } from './requests.ts';
import { keyOf, Storage, type StoredEvent } from './storage.ts';
import { settled, sharing } from './values.ts';

export interface RelatedObjects {
  now(): number;
  askWebhook(path: string, request: AdmissionRequest): Promise<AdmissionResponse>;
  /** What a mutating webhook of somebody else makes of an object, after ours. */
  otherWebhook?(object: AnyObject): AnyObject;
  /** A write is answered, or refused. */
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
  /** As it is stored after it. */
  object: AnyObject | undefined;
  bypass: string | undefined;
}

export interface Answer {
  code: number;
  body: unknown;
}

/** A patch is tried again on what others have written meanwhile. */
const ATTEMPTS = 5;
const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

export class ApiServer {
  readonly storage: Storage;
  readonly #around: RelatedObjects;
  /** Changes when the server dies: what is under way is never stored. */
  #life = 0;
  #uids = 0;
  #reviews = 0;

  constructor(around: RelatedObjects) {
    this.#around = around;
    this.storage = new Storage(() => around.now());
  }

  /** Whatever it was about to store is lost. */
  die(): void {
    this.#life++;
  }

  async handle(user: UserInfo, request: ConnectionRequest): Promise<Answer> {
    const received = { receivedRevision: this.storage.revision, receivedMs: this.#around.now() };
    const life = this.#life;
    const record: { bypass?: string } = {};
    const tell = (code: number, message: string, object?: AnyObject) => {
      if (request.method === 'GET' || life !== this.#life) return;
      const answered = { answeredRevision: this.storage.revision, answeredMs: this.#around.now() };
      const { bypass } = record;
      this.#around.answered?.({
        ...received,
        ...answered,
        user: user.username,
        request,
        code,
        message,
        object,
        bypass,
      });
    };
    try {
      const body = await this.#answer(user, request, record);
      const isWrite = request.method !== 'GET' && 'metadata' in body;
      tell(200, '', isWrite ? (body as AnyObject) : undefined);
      return { code: request.method === 'POST' ? 201 : 200, body };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, reason, message } = error;
      tell(code, message);
      return { code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message } };
    }
  }

  /** Events of a resource after this revision. */
  eventsOf({ kind }: Target, after: number): StoredEvent[] {
    const resource = `${kind.group}/${kind.resource}`;
    const { events } = this.storage;
    let from = events.length;
    while (from > 0 && events[from - 1]!.revision > after) from--;
    return events.slice(from).filter((event) => event.resource === resource);
  }

  async #answer(user: UserInfo, request: ConnectionRequest, record: { bypass?: string }): Promise<object> {
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
    return this.#write(user, request, target, record);
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

  async #write(
    user: UserInfo,
    request: ConnectionRequest,
    target: Target,
    record: { bypass?: string },
  ): Promise<AnyObject> {
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
      const sent = wanted(request, old, manager);
      const stated = sent.metadata?.resourceVersion;
      if (old && stated !== undefined && stated !== old.metadata.resourceVersion)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": the object has been modified`);
      if (old && sent.metadata?.uid !== undefined && sent.metadata.uid !== old.metadata.uid)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": uid mismatch`);
      const shape = (object: AnyObject) => sharing(settled(this.#shaped(object, old, target, name)), old);
      const write: Write = {
        operation: old ? 'UPDATE' : 'CREATE',
        user,
        group: kind.group,
        version: kind.version,
        resource: kind.resource,
        subresource,
        namespace,
        name,
        // As in Kubernetes nobody owns what the webhooks add.
        object: subresource
          ? shape(sent)
          : sharing(settled(owned(shape(sent), old, manager, isApply ? bodyOf(request) : undefined)), old),
        oldObject: old ?? null,
        dryRun: query.get('dryRun') === 'All',
        options: { fieldManager: manager },
      };
      const ask = this.#asking(record);
      const mutated = (await mutate(write, ask, shape, subresource ? undefined : this.#around.otherWebhook))!;
      const next = settled(withGeneration(mutated, old, subresource));
      const problems = kind.schema?.problems(next, old) ?? [];
      if (problems.length > 0)
        throw new Refusal(422, 'Invalid', `${kind.kind} "${name}" is invalid: ${problems.join('; ')}`);
      await validate({ ...write, object: next }, ask);
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

  /** What a client cannot change stays, and what the schema does not know goes. */
  #shaped(
    object: AnyObject,
    old: AnyObject | undefined,
    { kind, namespace, subresource }: Target,
    name: string,
  ): AnyObject {
    const metadata: AnyObject['metadata'] = {
      ...without(object.metadata, ['annotations', 'labels', 'finalizers', 'ownerReferences', 'managedFields']),
      ...(subresource && old && { ...old.metadata, managedFields: object.metadata.managedFields }),
      name,
      ...(namespace && { namespace }),
      uid: old?.metadata.uid ?? `uid-${kind.resource}-${++this.#uids}`,
      creationTimestamp: old?.metadata.creationTimestamp ?? timestamp(this.#around.now()),
      resourceVersion: old?.metadata.resourceVersion,
      generation: old?.metadata.generation ?? 1,
      deletionTimestamp: old?.metadata.deletionTimestamp,
    };
    for (const key of Object.keys(metadata)) if ((metadata as any)[key] === undefined) delete (metadata as any)[key];
    let result: AnyObject = { ...object, metadata };
    if (kind.hasStatus) {
      // Conditions of what a write of the spec says of the status, and the other way round: dropped.
      const { status: _, ...rest } = subresource === 'status' && old ? { ...old, metadata } : result;
      const status = subresource === 'status' ? object.status : old?.status;
      result = { ...rest, ...(status !== undefined && { status }) } as AnyObject;
    }
    return kind.schema?.prepare(result) ?? result;
  }

  #asking(record: { bypass?: string }): (path: string, request: AdmissionRequest) => Promise<AdmissionResponse> {
    return async (path, request) => {
      const uid = `review-${++this.#reviews}`;
      const response = await this.#around.askWebhook(path, { ...request, uid });
      const bypass = Object.entries(response.auditAnnotations ?? {}).find(([name]) => name.endsWith('bypass'))?.[1];
      if (bypass !== undefined) record.bypass = bypass;
      return response;
    };
  }

  async #remove(user: UserInfo, request: ConnectionRequest, target: Target): Promise<AnyObject> {
    const { kind, namespace, name, query } = target;
    const resource = `${kind.group}/${kind.resource}`;
    const options = bodyOf(request);
    for (;;) {
      const life = this.#life;
      const old = this.#existing(target);
      const { uid } = options.preconditions ?? {};
      if (uid !== undefined && uid !== old.metadata.uid)
        throw new Refusal(409, 'Conflict', `${kind.resource} "${name}": the UID in the precondition is another one`);
      const write: Write = {
        operation: 'DELETE',
        user,
        group: kind.group,
        version: kind.version,
        resource: kind.resource,
        subresource: undefined,
        namespace,
        name,
        object: null,
        oldObject: old,
        dryRun: query.get('dryRun') === 'All',
        options: {},
      };
      const ask = this.#asking({});
      await mutate(write, ask, (object) => object);
      await validate(write, ask);
      if (life !== this.#life) return new Promise(() => {});
      if (this.storage.get(resource, `${namespace}/${name}`) !== old) continue;
      if (write.dryRun) return old;
      if (!old.metadata.finalizers?.length) {
        this.storage.remove(resource, old);
        return old;
      }
      if (old.metadata.deletionTimestamp) return old;
      const deletionTimestamp = timestamp(this.#around.now());
      const generation = (old.metadata.generation ?? 1) + 1;
      return this.storage.put(resource, { ...old, metadata: { ...old.metadata, deletionTimestamp, generation } });
    }
  }
}

const timestamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function reviewed({ spec }: AnyObject): object {
  const { user, groups, resourceAttributes } = spec;
  return { status: { allowed: may({ username: user, groups }, resourceAttributes) } };
}

function groupVersionOf(path: string): [group: string, version: string] {
  const parts = path.split('?')[0]!.split('/').filter(Boolean);
  return parts[0] === 'api' ? ['', parts[1] ?? ''] : [parts[1] ?? '', parts[2] ?? ''];
}

/** The part of the user agent before the slash, as the API server has it. */
const managerOf = ({ headers }: ConnectionRequest) => (headers['user-agent'] ?? 'unknown').split('/')[0]!;

/** Empty maps and lists are as if they were not there. */
function without(metadata: AnyObject['metadata'], keys: readonly string[]): AnyObject['metadata'] {
  const entries = Object.entries(metadata ?? {}).filter(
    ([key, value]) => !(keys.includes(key) && (value === null || Object.keys(value as object).length === 0)),
  );
  return Object.fromEntries(entries) as AnyObject['metadata'];
}

/** `said`: of an apply. */
function owned(object: AnyObject, old: AnyObject | undefined, manager: string, said: AnyObject | undefined): AnyObject {
  const managedFields = object.metadata.managedFields ?? old?.metadata.managedFields;
  const before = old && { ...old, metadata: { ...old.metadata, managedFields } };
  return withOwners(object, before, manager, said ? 'Apply' : 'Update', said);
}

function withGeneration(object: AnyObject, old: AnyObject | undefined, subresource: string | undefined): AnyObject {
  if (!old || subresource) return object;
  const content = ({ metadata: _, status: __, ...rest }: AnyObject) => rest;
  const isSame = jsonEqual(content(object), content(old));
  const generation = (old.metadata.generation ?? 1) + (isSame ? 0 : 1);
  return { ...object, metadata: { ...object.metadata, generation } };
}

function isUnchanged(next: AnyObject, old: AnyObject): boolean {
  return keyOf(next) === keyOf(old) && jsonEqual(next, old);
}
