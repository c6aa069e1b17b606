/** Many Flux objects behind one Gate, for bench and fault tests. */
import { inParallel } from '../../../live/inParallel.ts';
import { gate, helmRelease, kustomization, ociRepository } from '../../actors/objects.ts';
import { requestGate } from '../../actors/requestGate.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { type ObjectRef, pathOf } from '../../client/resources.ts';
import type { AnyObject } from '../../client/send.ts';

const WIDTH = 32;
const GATE = 'freeze';
const SUSPENDED = 'gate.fluxcd.io/suspended';
const KINDS = [kustomization, helmRelease, ociRepository];
/** Values of `spec.suspend` before the Gate closes, which the opening must restore. */
const BEFORE = [undefined, false, undefined, true];

export function fleet(access: Access, namespace: string, count: number) {
  const admin = new User(access);
  const objects = Array.from({ length: count }, (_, i): AnyObject => {
    const suspend = BEFORE[i % BEFORE.length];
    return KINDS[i % KINDS.length]!(namespace, `app-${String(i).padStart(4, '0')}`, {
      annotations: { 'gate.fluxcd.io/gates': GATE },
      ...(suspend !== undefined && { spec: { suspend } }),
    });
  });
  const kinds = [...Map.groupBy(objects, ({ kind }) => kind).values()].map((all) => {
    return { apiVersion: all[0]!.apiVersion, kind: all[0]!.kind, count: all.length };
  });
  const before = new Map(objects.map(({ kind, metadata, spec }) => [`${kind} ${metadata.name}`, spec.suspend]));

  const suspendBefore = ({ kind, metadata }: AnyObject) => before.get(`${kind} ${metadata.name}`);
  const suspendedAnnotation = ({ metadata }: AnyObject) => metadata.annotations?.[SUSPENDED];
  const isHeld = (object: AnyObject) =>
    object.spec.suspend === true && suspendedAnnotation(object) === String(suspendBefore(object) ?? 'unset');
  const isRestored = (object: AnyObject) =>
    object.spec.suspend === suspendBefore(object) && suspendedAnnotation(object) === undefined;
  const countWhere = async (holds: (object: AnyObject) => boolean) => {
    const lists = kinds.map(({ apiVersion, kind }) => admin.list(apiVersion, kind, namespace));
    return (await Promise.all(lists)).flat().filter(holds).length;
  };

  return {
    objects,
    isHeld,
    isRestored,
    /** The collections of the objects, and the number of objects in each. */
    collections: () =>
      Promise.all(
        kinds.map(async ({ count, ...of }) => {
          return { path: await pathOf(access, { ...of, metadata: { namespace } }), count };
        }),
      ),
    /** Creates the open Gate and the objects, of different kinds, most of them not suspended. */
    async create() {
      await admin.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await admin.apply(gate(namespace, GATE, { spec: { default: 'opened' } }));
      // The inventory of a Kustomization that applies no Flux objects.
      const inventory = { entries: [{ id: `${namespace}_app_apps_Deployment`, v: 'v1' }] };
      await inParallel(
        objects,
        async (object) => {
          await admin.apply(object);
          if (object.kind === 'Kustomization') await admin.patchStatus(object as ObjectRef, { inventory });
        },
        WIDTH,
      );
    },
    async request(action: 'open' | 'close') {
      await requestGate(admin, namespace, GATE, action);
    },
    /** Number of held objects: suspended, with the annotation that has the value before. */
    countHeld: () => countWhere(isHeld),
    /** Number of objects in their state before the Gate closed. */
    countRestored: () => countWhere(isRestored),
  };
}

export type Fleet = ReturnType<typeof fleet>;
