/** A cluster made of objects, behind the port that hooks and webhooks read by. It remembers what was read. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';

type AnyObject = KubeObject<any, any>;

export interface FakeCluster extends ClusterReader {
  /** Every object that an answer held, once each. */
  read: Set<AnyObject>;
  /** Requests made. */
  requests: number;
}

/** Any version of a kind is the same kind, as it is for an API server that converts. */
export function fakeCluster(objects: readonly AnyObject[]): FakeCluster {
  const byResource = Map.groupBy(objects, ({ kind }) => pluralOf(kind));
  const byName = new Map(objects.map((object) => [pathOf(pluralOf(object.kind), object.metadata), object]));
  const read = new Set<AnyObject>();

  const list = ({ resource, namespace, labelSelector, fieldSelector }: ListRef) => {
    const found = (byResource.get(resource) ?? []).filter(
      (object) =>
        (namespace === undefined || object.metadata.namespace === namespace) &&
        matchesLabels(object, labelSelector) &&
        matchesField(object, fieldSelector),
    );
    for (const object of found) read.add(object);
    return found;
  };
  const cluster: FakeCluster = {
    read,
    requests: 0,
    async get({ resource, namespace, name }) {
      cluster.requests++;
      const object = byName.get(pathOf(resource, { namespace, name }));
      if (object) read.add(object);
      return object as never;
    },
    async list(ref) {
      cluster.requests++;
      return list(ref) as never;
    },
    async listMetadata(ref) {
      cluster.requests++;
      return list(ref).map(({ metadata }) => ({ metadata }) as AnyObject);
    },
    serves: async () => true,
    resourceOf: async ({ kind }) => ({ resource: pluralOf(kind), namespaced: kind !== 'Namespace' }),
  };
  return cluster;
}

type ListRef = ResourceRef & { labelSelector?: string; fieldSelector?: string };

function pathOf(resource: string, { namespace, name }: { namespace?: string | undefined; name?: string | undefined }) {
  return `${resource} ${namespace ?? ''}/${name}`;
}

/** `a`, `a=b` and `a in (b,c)`: what this project asks for. */
function matchesLabels({ metadata }: AnyObject, selector = ''): boolean {
  return selector
    .split(/,(?![^(]*\))/)
    .filter((part) => part !== '')
    .every((part) => {
      const [, key = '', equal, within] = /^([^=\s]+)(?:==?(.*)| in \((.*)\))?$/.exec(part) ?? [];
      const value = metadata.labels?.[key];
      if (value === undefined) return false;
      return equal !== undefined ? value === equal : within === undefined || within.split(',').includes(value);
    });
}

function matchesField(object: AnyObject, selector: string | undefined): boolean {
  if (!selector) return true;
  const [path = '', value] = selector.split('=');
  const found = path.split('.').reduce<any>((at, key) => at?.[key], object);
  return String(found ?? '') === value;
}

/** What discovery would say of the kinds that are used here. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : name.endsWith('s') ? `${name}es` : `${name}s`;
}
