/** The removal steps of docs/install.md: nothing stays suspended, held or undeletable. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { gitSync } from '../../dev/actors/gitSync.ts';
import { FOR_FEATURES } from '../../dev/local/cluster.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import {
  type AnyObject,
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  rolloutGate,
  staysTrue,
  waitFor,
} from '../cluster/support/cluster.ts';
import { gated, isHeld } from '../cluster/support/gates.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { history, tagArrives, variablesArrive } from '../cluster/support/versions.ts';
import { stepsOf } from '../long/install/page.ts';
import { newReader } from '../long/install/reader.ts';

const FLUX_FINALIZER = 'finalizers.fluxcd.io';
const { cluster, view } = await ownCluster();
const ns = await view.newNamespace();
const reader = await newReader(cluster.kubeconfigOf('admin'), 'registry.example.com');

const [endAutomation, openGates, remove, deleteKinds] = stepsOf('Upgrading and removing', '').map((step) =>
  'run' in step ? step.run : '',
);
/** The command of docs/gates.md that lists held objects; its last column is MEMORY. */
const list = /^kubectl get .*BEFORE.*$/m.exec(readFileSync(join(REPOSITORY, 'docs/gates.md'), 'utf8'))![0];
const flux = () => fakeFlux(view);
/** From Git, by the Kustomization `parent`. */
const child = () => gated('Kustomization', ns, 'child', 'freeze');
let syncFromGit: ReturnType<typeof gitSync>;
const app = () => view.admin.get(ref('kustomization', ns, 'app'));

/** Held objects of all kinds. */
const frozen = () => [
  { object: gated('Kustomization', ns, 'running', 'freeze'), suspend: undefined },
  { object: gated('Kustomization', ns, 'stopped', 'freeze', { suspend: true }), suspend: true },
  { object: gated('HelmRelease', ns, 'running', 'freeze', { suspend: false }), suspend: false },
  { object: gated('GitRepository', ns, 'running', 'freeze'), suspend: undefined },
];

it('starts with an applied release, a pending one, and a freeze', async () => {
  const { admin, developer, publish } = view;
  await developer.create(rollout(ns, 'app'));
  await developer.create(ociRepository(ns, 'app', { rollout: 'app' }));
  const marked = kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } });
  marked.metadata.finalizers = [FLUX_FINALIZER];
  await developer.create(marked);
  await publish(ns, 'app', '1.0.0');
  await tagArrives(admin, ns, 'app', '1.0.0');
  await flux().fetch(ns, 'app');
  await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
  await waitFor(async () => (await app()).spec.suspend !== true, 'it to go on');
  await flux().apply(ns, 'app');
  await admin.create(rolloutGate(ns, 'qa', 'app', { passing: false }));
  await admin.create(gate(ns, 'board', { spec: { default: 'closed' } }));
  await admin.mergePatch(ref('rollout', ns, 'app'), { spec: { gates: [{ name: 'board' }] } });
  await admin.mergePatch(ref('rolloutGate', ns, 'qa'), { spec: { passing: true } });
  await admin.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  for (const { object } of frozen()) await admin.create(object);
  await admin.create(kustomization(ns, 'parent'));
  syncFromGit = gitSync(view.flux, { namespace: ns, name: 'parent' });
  await syncFromGit([child()]);
  await admin.mergePatch(ref('gate', ns, 'freeze'), { spec: { default: 'closed' } });
  for (const { object, suspend } of frozen())
    await isHeld(admin, object, suspend === undefined ? 'unset' : `${suspend}`);
  await isHeld(admin, child());
  await publish(ns, 'app', '1.1.0');
});

it('opening every Gate restores each object, and deploys no pending version', async () => {
  await reader.run(endAutomation!);
  await reader.run(openGates!);
  await waitFor(async () => {
    await syncFromGit([child()]);
    const held = (await reader.run(list))
      .split('\n')
      .slice(1)
      .filter((line) => line && !/ <none>$/.test(line));
    expect(held).toEqual([]);
    return true;
  }, 'nothing to be held');
  for (const { object, suspend } of frozen()) {
    expect((await view.admin.get<AnyObject>(object as never)).spec.suspend, object.metadata.name).toBe(suspend);
  }
  expect((await view.admin.get<AnyObject>(child() as never)).spec.suspend).not.toBe(true);
  await staysTrue(async () => (await history(view.admin, ns, 'app'))[0]?.[1] === '1.0.0', 'no deployment', 2_000);
});

it('after the removal no write is refused, and Flux applies users’ writes', async () => {
  await reader.run(remove!);
  // Its Pods go with their namespace.
  await cluster.hooks()?.stop();
  const { developer } = view;
  await developer.mergePatch(ref('ociRepository', ns, 'app'), { spec: { ref: { tag: '9.0.0' } } });
  await developer.mergePatch(ref('kustomization', ns, 'app'), {
    spec: { postBuild: { substitute: { APP_VERSION: '9.0.0' } } },
  });
  await flux().fetch(ns, 'app');
  const revision = await flux().apply(ns, 'app');
  expect(revision).toMatch(/^9\.0\.0@/);
  expect((await app()).status.lastAppliedRevision).toBe(revision);
  expect((await app()).spec.suspend).not.toBe(true);
});

it('nothing has a finalizer but of Flux, and its namespace can be deleted', async () => {
  const { admin } = view;
  const kinds = [
    'rollouts',
    'rolloutgates',
    'fluxbindings',
    'gates',
    'kustomizations',
    'helmreleases',
    'gitrepositories',
  ];
  const found = await reader.run(
    `kubectl get ${kinds.join(',')} -n ${ns} -o jsonpath='{range .items[*]}{.kind}/{.metadata.name} {.metadata.finalizers}{"\\n"}{end}'`,
  );
  const finalizers = found.split('\n').filter((line) => /\[/.test(line));
  expect(finalizers).toEqual([`Kustomization/app ["${FLUX_FINALIZER}"]`]);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } };
  await admin.remove(namespace);
  await waitFor(async () => (await app()).metadata.deletionTimestamp, 'Flux to be asked');
  await admin.mergePatch(ref('kustomization', ns, 'app'), { metadata: { finalizers: null } });
  await waitFor(async () => !(await admin.find(namespace)), 'the namespace to be gone', 60_000);
});

it('the kinds are removed too, if requested', async () => {
  // The manifests of the local cluster.
  const components = ['authenticated-hooks', ...FOR_FEATURES];
  const paths = components.map((name) => `rollout-hooks/manifests/components/${name}`);
  const installed = { kind: 'Kustomization', resources: ['rollout-hooks/manifests'], components: paths };
  await reader.run(`echo '${JSON.stringify(installed)}' > kustomization.yaml`);
  await reader.run(deleteKinds!);
  const left = await reader.run('kubectl get crds,clusterroles,clusterrolebindings -o name');
  expect(left.split('\n').filter((name) => /kuberik|gating|rollout-hooks(?!-local)/.test(name))).toEqual([]);
});
