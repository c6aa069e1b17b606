/** A cluster with an ImageRepository and a pull secret, and a metadata cache on it. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { ClusterReader, ReleaseLookup } from '../../../api/ports.ts';
import { fakeCluster, pluralOf } from '../../../dev/fakes/ports.ts';
import { createMetadataCache } from '../../../server/registry/cache.ts';
import { registrySockets } from '../../../server/registry/sockets.ts';

interface RegistryObjects {
  /** By `resource namespace/name`; tests may change it. */
  objects: Record<
    string,
    Omit<KubeObject<any, any>, 'apiVersion' | 'kind' | 'metadata'> & { data?: object; metadata?: object }
  >;
  /** The API versions served. */
  served: string[];
  reads: string[];
}

export function registryObjects(host: string, repository: object = {}): RegistryObjects {
  return {
    served: ['image.toolkit.fluxcd.io/v1'],
    reads: [],
    objects: {
      'imagerepositories demo/web': { spec: { image: `${host}/acme/web`, insecure: true, ...repository } },
    },
  };
}

/** The `data` of a Secret with user and password. */
export function pullSecret(host: string, username: string, password: string): Record<string, string> {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const config = JSON.stringify({ auths: { [`http://${host}/v1/`]: { auth } } });
  return { '.dockerconfigjson': Buffer.from(config).toString('base64') };
}

const KINDS = new Map(
  ['ImageRepository', 'Namespace', 'Secret', 'ServiceAccount'].map((kind) => [pluralOf(kind), kind]),
);

function reader({ objects, served, reads }: RegistryObjects): ClusterReader {
  const stored = () =>
    Object.entries(objects).map(([path, { metadata, ...rest }]): KubeObject<any, any> => {
      const [resource = '', ref = ''] = path.split(' ');
      const [name, namespace] = ref.split('/').reverse();
      const identity = { ...(namespace && { namespace }), ...(name && { name }) };
      return { apiVersion: '', kind: KINDS.get(resource)!, metadata: { ...identity, ...metadata }, ...rest };
    });
  return fakeCluster(stored, {
    serves: (apiVersion) => served.includes(apiVersion),
    onRequest: ({ resource, namespace, name }) =>
      reads.push(`${resource} ${[namespace, name].filter(Boolean).join('/')}`),
  });
}

type Rest = Partial<Pick<ReleaseLookup, 'digest' | 'namespace' | 'isUrgent'>>;

export function cacheOn(of: RegistryObjects, timeoutMs = 30_000) {
  let now = 0;
  const warnings: string[] = [];
  const drops: string[] = [];
  const cache = createMetadataCache({
    cluster: reader(of),
    sockets: registrySockets({ allowLocal: true }),
    clock: () => now,
    log: { warn: (fields) => warnings.push((fields as { why: string }).why) },
    dropped: (what) => drops.push(what),
    timeoutMs,
  });
  const policy = { namespace: 'demo', name: 'web' };
  const own = { policy, namespace: 'demo' };
  let repository = policy;
  return {
    warnings,
    drops,
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    /** The policy now names another ImageRepository. */
    repository: (ref: typeof policy) => {
      repository = ref;
    },
    idle: cache.idle,
    lookup: (tag = '1.1.0', rest: Rest = {}) => cache.lookup({ ...own, repository, tag, ...rest }),
    isAwaited: () => cache.isAwaited({ ...own, repository, tag: '1.1.0' }),
    /** Looks up, waits for the reads that this started, and looks up again. */
    async settled(tag = '1.1.0', rest: Rest = {}) {
      cache.lookup({ ...own, repository, tag, ...rest });
      await cache.idle();
      return cache.lookup({ ...own, repository, tag, ...rest });
    },
  };
}
