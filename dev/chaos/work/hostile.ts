/**
 * A tenant who continuously tries every known way around a closed Gate, in a namespace that a Gate of the platform team
 * selects.
 */
import { API, gate, kustomization, ociRepository, rollout } from '../../actors/objects.ts';
import type { Random } from '../../actors/random.ts';
import { requestGate } from '../../actors/requestGate.ts';
import { type AnyObject, ApiError } from '../../client/send.ts';
import type { Users } from './team.ts';

const NAMESPACE = 'hostile';
/** A little more than the policies of the API server allow, so that some of it is refused. */
const MAX_ANNOTATION_BYTES = 132_000;
const MAX_TEXT_BYTES = 450_000;
const NAMES = ['a', 'b', 'c', 'd'];
/** Each Rollout is large: more of them would test etcd. */
const MOST_ROLLOUTS = 16;

/** The label of objects that the Gate doesn't select. */
const FREE = 'free';

/** The attacks, with weights. */
const ATTACKS = {
  edit: 6,
  resume: 6,
  twin: 6,
  fillAnnotations: 3,
  fillSpec: 3,
  fillManagers: 4,
  finalize: 6,
  pretend: 4,
  nameMany: 2,
  label: 2,
  inventory: 2,
  follow: 4,
  bypass: 2,
  pin: 2,
  event: 2,
};
type Attack = keyof typeof ATTACKS;

export function hostileTenant({ admin, developer, sre }: Users, random: Random) {
  let count = 0;
  const selects = { labelSelector: { matchExpressions: [{ key: FREE, operator: 'DoesNotExist' }] } };
  const own = gate(NAMESPACE, 'own', { spec: { default: 'opened', selects } });
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;
  const object = (name = any(NAMES)): AnyObject =>
    random.next() < 0.7 ? kustomization(NAMESPACE, name) : ociRepository(NAMESPACE, name);
  const annotated = (annotations: Record<string, string | null>, spec?: object) =>
    developer.mergePatch(object() as never, { metadata: { annotations }, ...(spec && { spec }) });
  const size = (most: number) => any([100, most >> 1, most]);
  /** Go writes some characters as six bytes. */
  const text = (length: number) => any(['y', '<', '\u2028']).repeat(length);

  const attacks: Record<Attack, () => Promise<unknown>> = {
    edit: () => developer.mergePatch(object() as never, { spec: { interval: `${++count}m` } }),
    resume: () => developer.mergePatch(object() as never, { spec: { suspend: false, interval: `${++count}m` } }),
    twin: async () => {
      const one = object();
      if (random.next() < 0.5) await developer.remove(one as never);
      const { name, ...metadata } = { ...one.metadata, labels: random.next() < 0.2 ? { [FREE]: '' } : {} };
      const named = random.next() < 0.2 ? { generateName: `${name}-` } : { name };
      await developer.create({ ...one, metadata: { ...metadata, ...named } });
    },
    fillAnnotations: () => annotated({ 'x/filled': text(size(MAX_ANNOTATION_BYTES)) }),
    fillSpec: () =>
      developer.mergePatch(kustomization(NAMESPACE, any(NAMES)) as never, {
        spec: { postBuild: { substitute: { FILLED: text(size(MAX_TEXT_BYTES)) } } },
      }),
    fillManagers: () =>
      developer.apply(kustomization(NAMESPACE, any(NAMES), { spec: { path: `./${++count}` } }), {
        manager: `manager-${count}`,
        force: true,
      }),
    finalize: async () => {
      const one = object();
      for (let i = 0; i < 10; i++) {
        const finalizers = i % 2 ? ['example.com/a'] : ['example.com/a', `example.com/b${++count}`];
        await developer.mergePatch(one as never, { metadata: { finalizers } });
      }
      await developer.mergePatch(one as never, { metadata: { finalizers: null } });
    },
    pretend: () =>
      annotated(
        {
          'gate.fluxcd.io/state': any([
            'open',
            'open@1',
            'opening: 2030-01-01T00:00:00Z',
            'closed: x',
            `bypassed: ${NAMESPACE}/own@default`,
            null,
          ]),
          'gate.fluxcd.io/suspended': any(['unset', 'true', 'false', null]),
          'gate.fluxcd.io/selected-by': any(['', 'flux-system/none', null]),
          'gate.fluxcd.io/bypassed-by': any(['developer', null]),
        },
        { suspend: false },
      ),
    nameMany: () =>
      annotated({
        // Only existing Gates: the name of a Gate that never existed may be removed again, and the oracle has no such
        // Gate.
        'gate.fluxcd.io/gates': any([null, Array(300).fill('own').join(), 'own']),
      }),
    label: () =>
      developer.mergePatch(object() as never, {
        metadata: {
          labels: {
            'kustomize.toolkit.fluxcd.io/name': any(NAMES),
            'kustomize.toolkit.fluxcd.io/namespace': any([NAMESPACE, 'team-1', 'flux-system']),
            [FREE]: any(['', null]),
          },
        },
      }),
    inventory: () => {
      const entries = Array.from({ length: 500 }, (_, i) => ({ id: `team-1_app-${i}_apps_Deployment`, v: 'v1' }));
      return developer.mergePatch(
        kustomization(NAMESPACE, any(NAMES)) as never,
        { status: { inventory: { entries } } },
        { subresource: 'status' },
      );
    },
    follow: async () => {
      const name = `r${random.integer(1, MOST_ROLLOUTS)}`;
      const annotations = { 'x/filled': text(60_000) };
      await developer.create(rollout(NAMESPACE, name, { annotations })).catch(unlessThere);
      const followed = Array.from({ length: MOST_ROLLOUTS }, (_, i) => [
        `rollout.kuberik.com/substitute.V${i}.from`,
        `r${i + 1}`,
      ]);
      await developer.mergePatch(kustomization(NAMESPACE, any(NAMES)) as never, {
        metadata: { annotations: Object.fromEntries(followed) },
      });
    },
    bypass: () => annotated({ 'gate.fluxcd.io/bypass-reason': 'because' }, { suspend: false }),
    pin: () => {
      const annotations = { 'rollout.kuberik.com/reason': text(size(30_000)) };
      const spec = { wantedVersion: `1.${++count}.0` };
      return developer.apply(rollout(NAMESPACE, 'pinned', { annotations, spec }), { force: true });
    },
    event: () =>
      developer.create({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: NAMESPACE, name: `a.${random.integer(0, 1e9).toString(16)}` },
        involvedObject: { kind: 'Kustomization', namespace: NAMESPACE, name: 'a' },
        reason: 'GateOpened',
        message: 'forged',
        type: 'Normal',
      } as never),
  };

  async function all(): Promise<AnyObject[]> {
    const lists = [API.kustomization, API.ociRepository].map(async ([apiVersion, kind]) =>
      (await admin.list(apiVersion, kind, NAMESPACE)).map((item) => ({ ...item, apiVersion, kind })),
    );
    return (await Promise.all(lists)).flat();
  }

  return {
    create: async () => {
      await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: { chaos: '' } } });
      await sre.create(own);
    },
    act: async () => {
      await attacks[random.weighted(ATTACKS)]();
    },
    /** Opens or closes a Gate that selects every object of the tenant without the label `free`. */
    turn: (action: 'open' | 'close') => requestGate(sre, NAMESPACE, 'own', action),
    /** The tenant's Flux objects that aren't suspended, as `Kind name (uid)`. */
    running: async () =>
      (await all())
        .filter(
          ({ spec, metadata }) =>
            spec.suspend !== true && !metadata.deletionTimestamp && !(FREE in (metadata.labels ?? {})),
        )
        .map(({ kind, metadata }) => `${kind} ${metadata.name} (${metadata.uid})`),
    /** Deletes everything that the tenant created. */
    leave: async () => {
      for (const one of await all()) {
        // The labels name an applier that never applies.
        await developer.mergePatch(one as never, { metadata: { finalizers: null, labels: null } });
        await developer.mergePatch(one as never, { spec: { suspend: false } });
        await developer.remove(one as never);
      }
      // A Gate that has just changed counts its objects sooner: it is at rest before the end.
      await sre.mergePatch(own as never, { metadata: { annotations: { left: '' } } });
    },
  };
}

export type HostileTenant = ReturnType<typeof hostileTenant>;

function unlessThere(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 409) throw error;
}
