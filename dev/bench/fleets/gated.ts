/** Many Flux objects behind one Gate, for bench and fault tests. */

import { inParallel } from '../../../live/inParallel.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { applyObject, pathOf } from '../../client/resources.ts';
import { type AnyObject, send } from '../../client/send.ts';

const WIDTH = 32;
const GATE = 'freeze';
const SUSPENDED = 'gate.fluxcd.io/suspended';
const KINDS = [
  {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' } },
  },
  { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', spec: { interval: '10m' } },
  {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'OCIRepository',
    spec: { interval: '10m', url: 'oci://registry.example/fleet' },
  },
];
/** Values of `spec.suspend` before the Gate closes, which the opening must restore. */
const BEFORE = [undefined, false, undefined, true];

/** Writes the inventory of a Kustomization that applies no Flux objects. */
async function writeInventory(admin: Access, object: AnyObject): Promise<void> {
  const { namespace, name } = object.metadata;
  await send(admin, 'PATCH', await pathOf(admin, object, 'status'), {
    body: { status: { inventory: { entries: [{ id: `${namespace}_${name}_apps_Deployment`, v: 'v1' }] } } },
    contentType: 'application/merge-patch+json',
  });
}

export interface Fleet {
  /** Creates the open Gate and the objects, of different kinds, most of them not suspended. */
  create(): Promise<void>;
  request(action: 'open' | 'close'): Promise<void>;
  /** Number of held objects: suspended, with the annotation that has the value before. */
  countHeld(): Promise<number>;
  /** Number of objects in their state before the Gate closed. */
  countRestored(): Promise<number>;
  objects: AnyObject[];
  isHeld(object: AnyObject): boolean;
  isRestored(object: AnyObject): boolean;
  /** The collections of the objects, and the number of objects in each. */
  collections(): Promise<{ path: string; count: number }[]>;
}

export function fleet(admin: Access, namespace: string, count: number): Fleet {
  const put = (object: AnyObject) => applyObject(admin, object, { manager: 'fleet', force: true });
  const objects = Array.from({ length: count }, (_, i): AnyObject => {
    const { apiVersion, kind, spec } = KINDS[i % KINDS.length]!;
    const suspend = BEFORE[i % BEFORE.length];
    const name = `app-${String(i).padStart(4, '0')}`;
    return {
      apiVersion,
      kind,
      metadata: { name, namespace, annotations: { 'gate.fluxcd.io/gates': GATE } },
      spec: suspend === undefined ? spec : { ...spec, suspend },
    };
  });
  const before = new Map(objects.map(({ kind, metadata, spec }) => [`${kind} ${metadata.name}`, spec.suspend]));

  const suspendBefore = ({ kind, metadata }: AnyObject) => before.get(`${kind} ${metadata.name}`);
  const suspendedAnnotation = ({ metadata }: AnyObject) => metadata.annotations?.[SUSPENDED];
  const isHeld = (object: AnyObject) =>
    object.spec.suspend === true && suspendedAnnotation(object) === String(suspendBefore(object) ?? 'unset');
  const isRestored = (object: AnyObject) =>
    object.spec.suspend === suspendBefore(object) && suspendedAnnotation(object) === undefined;
  const collections = () =>
    Promise.all(
      KINDS.map(async ({ apiVersion, kind }) => ({
        path: await pathOf(admin, { apiVersion, kind, metadata: { namespace } }),
        kind,
        count: objects.filter((object) => object.kind === kind).length,
      })),
    );
  const countWhere = async (holds: (object: AnyObject) => boolean) => {
    const lists = await Promise.all(
      (await collections()).map(async ({ path, kind }) => {
        const { items } = (await send<{ items: AnyObject[] }>(admin, 'GET', path)).object;
        return items.filter((item) => holds({ ...item, kind })).length;
      }),
    );
    return lists.reduce((a, b) => a + b, 0);
  };

  return {
    objects,
    isHeld,
    isRestored,
    collections,
    async create() {
      await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await put({
        apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
        kind: 'Gate',
        metadata: { name: GATE, namespace },
        spec: { default: 'opened', interval: '1m' },
      });
      await inParallel(objects, WIDTH, async (object) => {
        await put(object);
        if (object.kind === 'Kustomization') await writeInventory(admin, object);
      });
    },
    async request(action) {
      const path = `/apis/gating.toolkit.fluxcd.io/v1alpha1/namespaces/${namespace}/gates/${GATE}`;
      await send(admin, 'PATCH', path, {
        body: { metadata: { annotations: { [`${action}.gate.fluxcd.io/requestedAt`]: timestamp() } } },
        contentType: 'application/merge-patch+json',
      });
    },
    countHeld: () => countWhere(isHeld),
    countRestored: () => countWhere(isRestored),
  };
}
