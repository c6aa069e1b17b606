/** The namespace in which the week happens, what is in it on Monday morning, and what is true of it. */
import { fluxStandIn } from '../actors/fluxStandIn.ts';
import { imagePolicy, kustomization, ociRepository, ref } from '../actors/objects.ts';
import { User } from '../actors/user.ts';
import type { AnyObject } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import type { Task } from './tasks.ts';

type KindRef = Parameters<typeof ref>[0];

export interface Stage {
  prepare(task: Task): Promise<void>;
  /** What is not as the task wants it yet: `rollout/checkout`. */
  missing(task: Task): Promise<string[]>;
  leave(): Promise<void>;
}

export async function enterStage(access: LocalCluster['accessOf'], namespace: string): Promise<Stage> {
  const admin = new User(access('admin'));
  const flux = new User(access('flux'));
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const [app, tag] of Object.entries({ checkout: '1.4.0', search: '2.0.0' })) {
    await admin.create(imagePolicy(namespace, app));
    await publish(admin, namespace, app, tag);
    await admin.create(ociRepository(namespace, app));
    const substitute = { [`${app.toUpperCase()}_VERSION`]: tag };
    await admin.create(kustomization(namespace, app, { spec: { postBuild: { substitute } } }));
  }
  const following = fluxStandIn({ flux }).follow(namespace);
  return {
    async prepare({ before = [] }) {
      for (const event of before) {
        if ('publish' in event) await publish(admin, namespace, 'checkout', event.publish);
        else await admin.create({ ...event.apply, metadata: { ...event.apply.metadata, namespace } });
      }
    },
    async missing({ then = [] }) {
      const found = await Promise.all(
        then.map(async ({ of, has }) => {
          const [kind = '', name = ''] = of.split('/');
          const object = await admin.find(ref(kind as KindRef, namespace, name));
          return isPart(has, object) ? [] : [of];
        }),
      );
      return found.flat();
    },
    leave: () => following.stop(),
  };
}

async function publish(admin: User, namespace: string, policy: string, tag: string): Promise<void> {
  const latestRef = { name: `registry.example.com/${policy}`, tag, digest: null };
  await admin.patchStatus(ref('imagePolicy', namespace, policy), { latestRef });
}

/** Of a list, its first entries. */
function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) => isPart(value, (whole as AnyObject)[key]));
}
