/** A namespace with closed Gates, and the state that must not change in it. */
import {
  type AnyObject,
  type ClusterView,
  gate,
  kustomization,
  ref,
  rollout,
  type User,
  waitFor,
} from '../support/cluster.ts';
import {
  GATES,
  GOVERNED,
  gated,
  isFree,
  isHeld,
  requestGate,
  SELECTED_BY,
  STATE,
  SUSPENDED,
} from '../support/gates.ts';
import { conditionOf, history, variablesArrive } from '../support/versions.ts';

const DEPLOYED = 'rollout.kuberik.com/deployed';
const FOLLOWS = 'rollout.kuberik.com/rollout';
const SUBSTITUTE_FROM = 'rollout.kuberik.com/substitute.APP_VERSION.from';
const RING = { ring: 'frozen' };

export interface GatedNamespace {
  ns: string;
  /** The manifests as written, by the name that attempts.yaml uses. */
  manifests: Record<string, AnyObject>;
  /** Everything that a closed Gate protects, as plain data, and what runs although one must hold it. */
  state(): Promise<{ running: unknown[] }>;
}

/**
 * - app, release, source: require the Gate `freeze`; app was applied by kubectl and carries Flux's finalizer
 * - applied: the same, applied by kustomize-controller as part of the Kustomization `parent`
 * - selected: held by the Gate `ring`, which selects the label ring=frozen
 * - bound: managed by the Rollout `rollout`; both require `freeze`; 1.0.0 is deployed and 1.1.0 waits
 * - loose: managed by the Rollout `rollout` too, and requires no Gate: it is not suspended, but cannot leave the
 *   Rollout
 * - chart: a HelmRelease that follows the Rollout `rollout` without a managed field, and requires no Gate either
 * - chosen: a Rollout held by the Gate `choosing`, which selects the Rollouts with the label ring=frozen; 1.1.0 waits
 *   as well
 * - follower: managed by `chosen`; it requires no Gate either
 * - always: a Gate that is open
 *
 * `parts`: which of them are there, beside freeze and always. Selecting Gates concern every Flux object of a cluster,
 * so a gated has the one of its own only where it matters.
 */
export async function newGatedNamespace(
  view: ClusterView,
  { closed, parts }: { closed: boolean; parts: readonly string[] },
): Promise<GatedNamespace> {
  const { admin, sre, newNamespace, publish } = view;
  const ns = await newNamespace();
  const manifests = manifestsIn(ns);
  const there = Object.entries(manifests).filter(([name]) => ['freeze', 'always', ...parts].includes(name));
  const gates = there.filter(([, { kind }]) => kind === 'Gate').map(([name]) => name);
  const objects = there.filter(([, { kind }]) => kind !== 'Gate');
  const held = objects.map(([, object]) => object).filter(({ kind }) => kind !== 'Rollout');
  const free = [manifests.loose, manifests.follower, manifests.chart];
  const gatedOnes = held.filter((object) => !free.includes(object));
  const hasRollout = parts.includes('rollout') || parts.includes('chosen');
  await Promise.all(gates.map((name) => sre.create(manifests[name]!)));
  if (hasRollout) await Promise.all([publish(ns, 'app', '1.0.0'), publish(ns, 'other', '9.9.9')]);
  await Promise.all(objects.map(([name, object]) => write(name, object, view)));
  const managed = ['bound', 'loose', 'follower'].filter((name) => parts.includes(name));
  await Promise.all(managed.map((name) => variablesArrive(admin, ns, name, { APP_VERSION: '1.0.0' })));
  if (closed) {
    const closing = gates.filter((name) => name !== 'always');
    await Promise.all(closing.map((name) => requestGate(sre, ns, name, 'close')));
    await Promise.all(gatedOnes.map((object) => isHeld(admin, object, memoryOf(object))));
    if (hasRollout) await publish(ns, 'app', '1.1.0');
  } else await Promise.all(held.map((object) => isFree(admin, object, object.spec.suspend)));
  const expectedStatus = (name: string) => (closed && name !== 'always' ? 'False' : 'True');
  await waitFor(async () => {
    const states = await Promise.all(gates.map((name) => admin.get(ref('gate', ns, name))));
    return states.every((state, i) => conditionOf(state, 'Opened')?.status === expectedStatus(gates[i]!));
  }, 'each Gate to say what it is');

  const rollouts = ['rollout', 'chosen'].filter((name) => parts.includes(name));
  const state = async () => {
    const [lists, ...others] = await Promise.all([
      Promise.all(KINDS.map(({ apiVersion, kind }) => admin.list(apiVersion, kind, ns))),
      Promise.all(rollouts.map((name) => rolloutState(name, ns, admin))),
      Promise.all(gates.map(async (name) => gateState(await admin.find(ref('gate', ns, name))))),
    ]);
    const live = new Map(lists.flat().map((object) => [object.metadata.name, object]));
    return {
      running: [...live.values()].filter(isRunning).map(({ metadata }) => metadata.name),
      objects: Object.fromEntries(held.map(({ metadata: { name } }) => [name, stateOf(live.get(name))])),
      rollouts: others[0],
      gates: others[1],
    };
  };
  return { ns, manifests, state };
}

/** The kinds of Flux objects that the attempts write. */
const KINDS = GOVERNED.filter(({ kind }) => ['Kustomization', 'HelmRelease', 'GitRepository'].includes(kind));

/** Whether it runs although a closed Gate must hold it. */
const isRunning = ({ metadata, spec }: AnyObject) =>
  (metadata.annotations?.[GATES]?.includes('freeze') || metadata.labels?.ring === 'frozen') && spec.suspend !== true;

const memoryOf = ({ spec }: AnyObject) => (spec.suspend === undefined ? 'unset' : String(spec.suspend));

function manifestsIn(ns: string): Record<string, AnyObject> {
  const opened = { default: 'opened' };
  const app = gated('Kustomization', ns, 'app', 'freeze', { suspend: false });
  app.metadata.finalizers = ['finalizers.fluxcd.io'];
  const parent = { 'kustomize.toolkit.fluxcd.io/name': 'parent', 'kustomize.toolkit.fluxcd.io/namespace': ns };
  return {
    freeze: gate(ns, 'freeze', { spec: opened }),
    ring: gate(ns, 'ring', { spec: { ...opened, selects: { labelSelector: { matchLabels: RING } } } }),
    choosing: gate(ns, 'choosing', {
      spec: { ...opened, selects: { kinds: ['Rollout'], labelSelector: { matchLabels: RING } } },
    }),
    always: gate(ns, 'always', { spec: opened }),
    app,
    release: gated('HelmRelease', ns, 'release', 'freeze'),
    source: gated('GitRepository', ns, 'source', 'freeze'),
    applied: gated('Kustomization', ns, 'applied', 'freeze', {}, parent),
    selected: gated('Kustomization', ns, 'selected', undefined, {}, RING),
    rollout: rollout(ns, 'rollout', { spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'freeze' }] } }),
    bound: kustomization(ns, 'bound', { variables: { APP_VERSION: 'rollout' }, annotations: { [GATES]: 'freeze' } }),
    loose: kustomization(ns, 'loose', { variables: { APP_VERSION: 'rollout' } }),
    chosen: rollout(ns, 'chosen', { labels: RING, spec: { releasesImagePolicy: { name: 'app' } } }),
    follower: kustomization(ns, 'follower', { variables: { APP_VERSION: 'chosen' } }),
    chart: follower(gated('HelmRelease', ns, 'chart'), 'rollout'),
  };
}

function follower(release: AnyObject, rollout: string): AnyObject {
  const chartRef = { kind: 'OCIRepository', name: 'chart' };
  return {
    ...release,
    metadata: { ...release.metadata, annotations: { [FOLLOWS]: rollout } },
    spec: { interval: '5m', chartRef },
  };
}

function write(name: string, object: AnyObject, { developer, flux }: ClusterView): Promise<unknown> {
  if (name === 'applied' || name === 'loose')
    return flux.apply(object, { manager: 'kustomize-controller', force: true });
  return object.kind === 'Kustomization' || name === 'source'
    ? developer.clientSideApply(object)
    : developer.create(object);
}

const PROTECTED = [GATES, SUBSTITUTE_FROM, FOLLOWS, SELECTED_BY, SUSPENDED, STATE, DEPLOYED];

function stateOf(object: AnyObject | undefined) {
  if (!object) return 'gone';
  const { metadata, spec } = object;
  return {
    uid: metadata.uid,
    // Increases with every change of the spec, so that an undone change is seen too.
    generation: metadata.generation,
    going: metadata.deletionTimestamp,
    owners: metadata.ownerReferences,
    ring: metadata.labels?.ring,
    annotations: Object.fromEntries(PROTECTED.map((key) => [key, metadata.annotations?.[key]])),
    spec,
  };
}

async function rolloutState(name: string, ns: string, admin: User) {
  const object = await admin.find(ref('rollout', ns, name));
  if (!object) return 'gone';
  const { uid, deletionTimestamp: going, labels, ownerReferences: owners } = object.metadata;
  return { uid, going, owners, ring: labels?.ring, gates: object.spec.gates, history: await history(admin, ns, name) };
}

function gateState(object: AnyObject | undefined) {
  if (!object) return 'gone';
  const opened = conditionOf(object, 'Opened');
  return {
    uid: object.metadata.uid,
    going: object.metadata.deletionTimestamp,
    spec: object.spec,
    opened: opened?.status,
  };
}
