/** A Git sync during a freeze succeeds without the held changes; the owner's sync after the opening applies them. */
import { describe, expect, it } from 'vitest';
import { gitSync, KUSTOMIZE_CONTROLLER, ownedBy } from '../../dev/actors/gitSync.ts';
import {
  type AnyObject,
  type ClusterView,
  configMap,
  gate,
  ref,
  sharedCluster,
  staysTrue,
  waitFor,
} from './support/cluster.ts';
import {
  conditionText,
  GATES,
  gated,
  isFree,
  isHeld,
  requestGate,
  SUSPENDED,
  saysSoon,
  timestamp,
} from './support/gates.ts';

const { admin, developer, flux, sre, newNamespace }: ClusterView = sharedCluster();
const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';
const read = (object: AnyObject) => admin.get(object as never);

/** Owners of fields in spec and metadata, without the status. */
const owners = ({ metadata }: AnyObject) => (metadata.managedFields ?? []).filter(({ subresource }) => !subresource);

/** Git before and after a commit that adds, changes and removes fields, a label, an annotation and an object. */
function commits(ns: string) {
  const app = (spec: object, labels: Record<string, string>, annotations: Record<string, string>) => {
    const object = gated('Kustomization', ns, 'app', 'freeze', { ...spec }, labels);
    return { ...object, metadata: { ...object.metadata, annotations: { [GATES]: 'freeze', ...annotations } } };
  };
  const leaving = gated('HelmRelease', ns, 'leaving', 'freeze');
  const release = gated('HelmRelease', ns, 'release', 'freeze', { suspend: false });
  const before = [
    app(
      { path: './v1', timeout: '1m', postBuild: { substitute: { KEPT: 'a', GONE: 'b' } } },
      { old: 'label' },
      { old: 'note' },
    ),
    release,
    leaving,
    configMap(ns, 'hotfix', { fixed: 'no' }),
  ];
  const after = [
    app(
      { path: './v2', wait: true, postBuild: { substitute: { KEPT: 'a', NEW: 'c' } } },
      { new: 'label' },
      { new: 'note' },
    ),
    { ...release, spec: { ...release.spec, interval: '3m' } },
    gated('HelmRelease', ns, 'arriving', 'freeze'),
    configMap(ns, 'hotfix', { fixed: 'yes' }),
  ];
  return { before, after };
}

/** A frozen namespace whose objects are synced from Git by the Kustomization `parent`. */
async function frozen() {
  const ns = await newNamespace();
  await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  const parent = gated('Kustomization', ns, 'parent');
  await developer.create(parent);
  const sync = gitSync(flux, { namespace: ns, name: 'parent' });
  const { before, after } = commits(ns);
  expect(await sync(before)).toMatchObject({
    configured: before.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  });
  const app = gated('Kustomization', ns, 'app');
  await saysSoon(admin, app, 'Approved', 'True GatesOpen: All gates are open.');
  await requestGate(sre, ns, 'freeze', 'close');
  await isHeld(admin, app);
  await isHeld(admin, gated('HelmRelease', ns, 'release'), 'false');
  await isHeld(admin, gated('HelmRelease', ns, 'leaving'));
  return { ns, parent, sync, before, after, app };
}

describe('a Git sync behind a closed gate', () => {
  it('is reverted, not broken: the frozen object reads unchanged, the hotfix next to it is applied', async () => {
    const { ns, sync, after, app } = await frozen();
    const object = await read(app);
    const result = await sync(after.filter(({ metadata }) => metadata.name !== 'arriving'));
    expect(result.failed).toBeUndefined();
    expect(result.configured).toEqual(['ConfigMap hotfix']);
    expect(result.unchanged).toEqual(['Kustomization app', 'HelmRelease release']);
    expect((await admin.get<AnyObject>(ref('configMap', ns, 'hotfix'))).data).toEqual({ fixed: 'yes' });
    // Repeated syncs of held objects store nothing.
    for (let i = 0; i < 3; i++) await sync(after.filter(({ metadata }) => metadata.name !== 'arriving'));
    const live = await read(app);
    expect([live.spec, owners(live)]).toEqual([object.spec, owners(object)]);
  });

  it('the first sync after the opening, which is requested, applies additions, changes and removals', async () => {
    const { ns, parent, sync, after, app } = await frozen();
    const held = await read(app);
    const first = await sync(after);
    expect(first.failed).toBeUndefined();
    expect(first.pruneFailed.map(({ code }) => code)).toEqual([403]);
    const arriving = gated('HelmRelease', ns, 'arriving');
    await isHeld(admin, arriving);
    expect(first.configured).toEqual(['HelmRelease arriving', 'ConfigMap hotfix']);
    // With a stored apply as well, as of kubectl: fields that it releases must be removed later.
    await flux.apply(ownedBy({ namespace: ns, name: 'parent' }, after[0]!), {
      manager: KUSTOMIZE_CONTROLLER,
      force: true,
    });

    const openedAt = timestamp();
    await requestGate(sre, ns, 'freeze', 'open');
    const asked = await waitFor(
      async () => (await read(parent)).metadata.annotations?.[REQUESTED_AT],
      'the owner to be asked to reconcile',
    );
    expect(Date.parse(asked)).toBeGreaterThanOrEqual(Date.parse(openedAt));
    // Resumed alone, it would apply the new artifact with the old spec.
    await staysTrue(
      async () => {
        const live = await read(app);
        return (
          live.spec.suspend === true && live.spec.path === './v1' && live.metadata.annotations?.[SUSPENDED] === 'unset'
        );
      },
      'the object waits for its owner, suspended',
      1500,
    );
    const result = await sync(after);
    expect(result.failed).toBeUndefined();
    // Deleted while suspended, it would leave its installed objects behind.
    expect(result.pruneFailed.map(({ message }) => message).join()).toContain('it is still suspended');
    const live = await isFree(admin, app);
    expect(live.spec).toEqual({ force: false, ...after[0]!.spec });
    expect(live.metadata.uid).toBe(held.metadata.uid);
    expect(live.metadata.labels).toMatchObject({ new: 'label' });
    expect(live.metadata.labels).not.toHaveProperty('old');
    expect(live.metadata.annotations).toMatchObject({ new: 'note' });
    expect(live.metadata.annotations).not.toHaveProperty('old');
    expect((await isFree(admin, gated('HelmRelease', ns, 'release'), false)).spec.interval).toBe('3m');
    await isFree(admin, arriving);
    const last = await waitFor(async () => {
      const again = await sync(after);
      return again.pruned.length > 0 && again;
    }, 'what left Git to be pruned');
    expect(last).toMatchObject({ configured: [], pruned: ['HelmRelease leaving'], pruneFailed: [] });
  });
});

describe('a Gate from Git', () => {
  it('keeps the accepted request when a sync strips the annotation that kubectl set', async () => {
    const ns = await newNamespace();
    const object = gate(ns, 'freeze', { spec: { window: '1h' } });
    const sync = gitSync(flux, { namespace: ns, name: 'platform' });
    await sync([object]);
    const app = gated('Kustomization', ns, 'app', 'freeze');
    await developer.create(app);
    const opened = async () => conditionText(await read(object), 'Opened')?.startsWith('True');
    await waitFor(
      async () => conditionText(await read(object), 'Opened')?.startsWith('False'),
      'the gate to be closed',
    );
    const at = timestamp();
    await requestGate(sre, ns, 'freeze', 'open', { at });
    await waitFor(opened, 'the gate to be open');
    expect((await sync([object])).configured).toEqual(['Gate freeze']);
    expect((await read(object)).metadata.annotations).not.toHaveProperty(['open.gate.fluxcd.io/requestedAt']);
    await staysTrue(opened, 'the gate stays open', 1500);
    expect((await read(object)).status).toMatchObject({ requestedAt: at, openedBy: 'sre' });
    await isFree(admin, app);
    expect((await sync([object])).configured).toEqual([]);
    // The next request counts as ever.
    await requestGate(sre, ns, 'freeze', 'close');
    await isHeld(admin, app);
  });
});
