/** The ports of api/ports.ts for tests: a cluster of in-memory objects, and recorders of Events and metrics. */

import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { Count, Duration } from '../../api/metrics.ts';
import type {
  ClusterReader,
  EventRecord,
  HookCall,
  Metrics,
  ResourceRef,
  Settings,
  StoredFact,
  WebhookCall,
} from '../../api/ports.ts';
import { createSharedReads } from '../../server/cluster/sharedReads.ts';
import { matching } from './selectors.ts';

type AnyObject = KubeObject<any, any>;

const FAKE_PAGE = 10;

export interface ClusterRequest extends ResourceRef {
  verb: 'get' | 'list' | 'listMetadata' | 'pages' | 'hasAny';
  name?: string;
  labelSelector?: string;
  fieldSelector?: string;
  metadataOnly?: true;
}

export interface FakeCluster extends ClusterReader {
  requests: ClusterRequest[];
  /** The requests as text: `get gates team-a freeze`. */
  reads: string[];
  /** Every object in an answer. */
  read: Set<AnyObject>;
}

interface ClusterOptions {
  serves?(apiVersion: string): boolean;
  /** The error of a request; undefined if it succeeds. */
  fails?(request: ClusterRequest): string | undefined;
  onRequest?(request: ClusterRequest): void;
}

/**
 * A cluster of these objects; a function is called for each request. All versions of a kind are one kind, since the API
 * server converts.
 */
export function fakeCluster(
  objects: readonly AnyObject[] | (() => readonly AnyObject[]),
  { serves = () => true, fails, onRequest }: ClusterOptions = {},
): FakeCluster {
  const indexed = typeof objects === 'function' ? () => indexOf(objects()) : once(() => indexOf(objects));
  const requests: ClusterRequest[] = [];
  const reads: string[] = [];
  const read = new Set<AnyObject>();

  const ask = (request: ClusterRequest) => {
    const { verb, resource, namespace, name, fieldSelector } = request;
    requests.push(request);
    reads.push([verb, resource, namespace, name ?? fieldSelector].filter(Boolean).join(' '));
    onRequest?.(request);
    const problem = fails?.(request);
    if (problem !== undefined) throw new Error(problem);
  };
  const list = ({ resource, namespace, labelSelector, fieldSelector }: ClusterRequest, atMost?: number) => {
    const matches = matching({ labelSelector, fieldSelector });
    const found = (indexed().byResource.get(resource) ?? []).filter(
      (object) => (!namespace || object.metadata.namespace === namespace) && matches(object),
    );
    const taken = found.slice(0, atMost);
    for (const object of taken) read.add(object);
    return taken;
  };
  return {
    requests,
    reads,
    read,
    async get(ref) {
      ask({ verb: 'get', ...ref });
      const object = indexed().byName.get(pathOf(ref.resource, ref));
      if (object) read.add(object);
      return object as never;
    },
    async list({ atMost, ...ref }) {
      ask({ verb: 'list', ...ref });
      return list({ verb: 'list', ...ref }, atMost).map(withoutKind) as never;
    },
    async listAtMost({ atMost, maxBytes, ...ref }) {
      ask({ verb: 'list', ...ref });
      const found = list({ verb: 'list', ...ref }, atMost + 1).map(withoutKind);
      let bytes = 0;
      const listed = found.slice(0, atMost).filter((object) => {
        bytes += JSON.stringify(object).length;
        return bytes <= maxBytes;
      });
      return { listed: listed as never[], isTruncated: listed.length < found.length };
    },
    async listMetadata(ref) {
      ask({ verb: 'listMetadata', ...ref });
      return list({ verb: 'listMetadata', ...ref }).map(({ metadata }) => ({ metadata }) as AnyObject);
    },
    // Small pages, so that tests see several.
    async *pages(ref) {
      ask({ verb: 'pages', ...ref });
      const { metadataOnly } = ref;
      const found = list({ verb: 'pages', ...ref });
      for (let at = 0; at < found.length; at += FAKE_PAGE) {
        const page = found.slice(at, at + FAKE_PAGE);
        yield page.map(metadataOnly ? ({ metadata }) => ({ metadata }) : withoutKind) as never;
      }
    },
    async hasAny(ref) {
      ask({ verb: 'hasAny', ...ref });
      return serves(ref.apiVersion) && list({ verb: 'list', ...ref }, 1).length > 0;
    },
    serves: async ({ apiVersion }) => serves(apiVersion),
    resourceOf: async ({ kind }) => ({ resource: pluralOf(kind), namespaced: kind !== 'Namespace' }),
  };
}

/** The settings of a hook server that authenticates its callers. */
export const SETTINGS: Settings = {
  onFailure: 'Continue',
  metacontrollerUser: 'system:serviceaccount:metacontroller:metacontroller',
  bypassServiceAccounts: [],
  syncFieldManagers: ['kustomize-controller'],
  authenticatesCallers: true,
  noCrossNamespaceRefs: false,
};

interface FakeContext {
  now: EpochMs;
  /** The objects of the cluster, if no `cluster` is given. */
  objects?: readonly AnyObject[];
  cluster?: ClusterReader;
  settings?: Partial<Settings> | undefined;
}

/** The context of a hook's call, and its records. */
export function fakeHookCall({
  now,
  objects = [],
  cluster = fakeCluster(objects),
  settings,
  access = { may: async () => true },
  metadata = { lookup: () => undefined, isAwaited: () => false },
  measurements = { measure: async () => undefined },
}: FakeContext & Partial<Pick<HookCall, 'access' | 'metadata' | 'measurements'>>) {
  const events: EventRecord[] = [];
  const { counts, durations, metrics } = fakeMetrics();
  const call: HookCall = {
    now,
    cluster,
    access,
    events: { record: (event) => void events.push(event) },
    metadata,
    measurements,
    sharedReads: createSharedReads(() => now),
    healthCluster: cluster,
    metrics,
    settings: { ...SETTINGS, ...settings },
  };
  return { call, events, counts, durations };
}

/** The context of an admission handler's call, and its records, confirmed or not. */
export function fakeWebhookCall({
  now,
  objects = [],
  cluster = fakeCluster(objects),
  settings,
  access = { may: async () => false },
}: FakeContext & Partial<Pick<WebhookCall, 'access'>>) {
  const events: EventRecord[] = [];
  const facts: StoredFact[] = [];
  const { counts, metrics } = fakeMetrics();
  const call: WebhookCall = {
    now,
    cluster,
    access,
    events: {
      recordWhen(event, fact, count) {
        events.push(event);
        facts.push(fact);
        if (count) counts.push(count);
      },
    },
    metrics,
    sharedReads: createSharedReads(() => now),
    settings: { ...SETTINGS, ...settings },
  };
  return { call, events, facts, counts };
}

export function fakeMetrics(): { counts: Count[]; durations: Duration[]; metrics: Metrics } {
  const counts: Count[] = [];
  const durations: Duration[] = [];
  const metrics = {
    count: (what: Count) => void counts.push(what),
    observe: (what: Duration) => void durations.push(what),
  };
  return { counts, durations, metrics };
}

/** The object without kind and apiVersion, which the items of a list lack. */
function withoutKind({ kind: _, apiVersion: __, ...rest }: AnyObject) {
  return rest;
}

function indexOf(objects: readonly AnyObject[]) {
  return {
    byResource: Map.groupBy(objects, ({ kind }) => pluralOf(kind)),
    byName: new Map(objects.map((object) => [pathOf(pluralOf(object.kind), object.metadata), object])),
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function pathOf(resource: string, { namespace, name }: { namespace?: string | undefined; name?: string | undefined }) {
  return `${resource} ${namespace ?? ''}/${name}`;
}

/** The plural that discovery returns for a kind. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : name.endsWith('s') ? `${name}es` : `${name}s`;
}
