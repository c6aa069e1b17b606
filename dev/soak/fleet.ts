/** The fleet of a soak: Rollouts of every kind in turn, in namespaces of twenty, each with an ImagePolicy and a Kustomization. */
import { inParallel } from '../../hooks/inParallel.ts';
import { conditionAt } from '../actors/fluxStandIn.ts';
import { gate, imagePolicy, kustomization, ref, rollout, rolloutBudget, rolloutGate } from '../actors/objects.ts';
import type { User } from '../actors/user.ts';
import { startBenchRegistry } from '../bench/fleets/registry.ts';
import { rolloutChecker } from '../chaos/invariants.ts';
import type { AnyObject } from '../client/send.ts';

/** One in ten waits for a Gate, one for an approval, one for a budget, one for the Rollout that comes next here. */
const KINDS = ['gate', 'approval', 'health', 'health', 'health', 'budget', 'after', 'bake', 'bake', 'bake'] as const;
export type AppKind = (typeof KINDS)[number];
/** Rollouts of a namespace. */
const TEAM = 20;
const WIDTH = 16;
const SOURCE = 'fleet';
export const REVISION = `main@sha1:${'0'.repeat(40)}`;

export interface People {
  admin: User;
  sre: User;
  flux: User;
}

export interface Release {
  app: string;
  tag: string;
  /** It is not healthy (of kind health), or cannot be applied (of kind bake). */
  bad: boolean;
  publishedMs: number;
  /** Whether nothing was in its way when it was published: its Rollout at rest, no Gate closed. */
  free: boolean;
  /** It became the head of the history. */
  deployedMs?: number;
  /** The state in which that ended. */
  outcome?: string;
}

/** A time in which the head of a Rollout was in this state; `to` is absent while it is. */
export interface Span {
  state: string;
  tag: string;
  from: number;
  to?: number;
}

export interface App {
  /** `namespace/name` */
  key: string;
  namespace: string;
  name: string;
  kind: AppKind;
  /** The number of its newest release; -1 for none. */
  newest: number;
  releases: Map<string, Release>;
  /** Tag by id of deployment. */
  ids: Map<number, string>;
  spans: Span[];
  /** Times in which Ready is RolloutFailed. */
  notReady: { from: number; to?: number }[];
  /** As they were stored last. */
  rollout?: AnyObject;
  kustomization?: AnyObject;
  check?: AnyObject;
  /** What is wrong with its next stored version. */
  verify: (version: AnyObject) => string[];
}

export const tagOf = (release: number) => `1.${release}.0`;
export const carried = (app: App): string | undefined => app.kustomization?.spec.postBuild?.substitute?.APP_VERSION;

export function planFleet(count: number): App[] {
  return Array.from({ length: count }, (_, i): App => {
    const namespace = `team-${Math.floor(i / TEAM)}`;
    const name = `app-${String(i).padStart(3, '0')}`;
    return {
      key: `${namespace}/${name}`,
      namespace,
      name,
      kind: KINDS[i % KINDS.length]!,
      newest: -1,
      releases: new Map(),
      ids: new Map(),
      spans: [],
      notReady: [],
      verify: rolloutChecker(),
    };
  });
}

/** Bakes take that share of their time. Answers what ends its registry. */
export async function createFleet(people: People, apps: readonly App[], share: number): Promise<() => void> {
  const registry = await startBenchRegistry();
  for (const team of new Set(apps.map(({ namespace }) => namespace))) await createTeam(people, team, registry.host);
  await inParallel(apps, WIDTH, (app) => createApp(people, app, apps, share));
  return () => registry.close();
}

async function createTeam({ admin, flux }: People, namespace: string, registry: string): Promise<void> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const source = {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata: { name: SOURCE, namespace },
  };
  await admin.create({ ...source, spec: { interval: '10m', url: 'https://git.example/fleet' } } as AnyObject);
  await flux.patchStatus(source, {
    observedGeneration: 1,
    artifact: {
      revision: REVISION,
      digest: `sha256:${'0'.repeat(64)}`,
      path: 'x',
      url: 'http://x',
      lastUpdateTime: '2026-01-02T12:00:00Z',
    },
    conditions: [conditionAt(Date, 'Ready', 1, 'True', 'Succeeded', 'stored artifact')],
  });
  await admin.create({
    apiVersion: 'image.toolkit.fluxcd.io/v1',
    kind: 'ImageRepository',
    metadata: { name: SOURCE, namespace },
    spec: { image: `${registry}/${namespace}`, interval: '10m', insecure: true },
  } as AnyObject);
  await admin.create(gate(namespace, 'freeze', { spec: { default: 'opened', selects: { kinds: ['Kustomization'] } } }));
  await admin.create(gate(namespace, 'window', { spec: { default: 'opened' } }));
  await admin.create(
    rolloutBudget(namespace, 'few', { selector: { matchLabels: { kind: 'budget' } }, maxConcurrent: 2 }),
  );
}

interface Spec {
  /** Both in seconds. A loaded machine takes its time to apply what is good. */
  bake: number;
  timeout?: number;
  onFailure?: 'Rollback' | 'Continue';
  gates?: { name: string }[];
}

const SPECS: Readonly<Record<AppKind, Spec>> = {
  gate: { bake: 10, gates: [{ name: 'window' }] },
  approval: { bake: 10 },
  health: { bake: 20, timeout: 600, onFailure: 'Rollback' },
  budget: { bake: 20, timeout: 600 },
  after: { bake: 10 },
  bake: { bake: 30, timeout: 360, onFailure: 'Continue' },
};

async function createApp({ admin }: People, app: App, apps: readonly App[], share: number): Promise<void> {
  const { namespace, name, kind } = app;
  const labels = { kind, app: name };
  await admin.create(imagePolicyOf(app));
  const spec = { sourceRef: { kind: 'GitRepository', name: SOURCE } };
  await admin.create(kustomization(namespace, name, { variables: { APP_VERSION: name }, spec }));
  if (kind === 'approval') await admin.create(rolloutGate(namespace, name, name, { approvals: { required: 1 } }));
  if (kind === 'health') {
    const check = ref('healthCheck', namespace, name);
    await admin.create({ ...check, metadata: { ...check.metadata, labels }, spec: {} } as AnyObject);
  }
  const { bake, timeout, ...others } = SPECS[kind];
  const stage = stageBefore(app, apps);
  const settings = {
    ...others,
    bakeTime: `${Math.ceil(bake * share)}s`,
    ...(timeout && { deployTimeout: `${timeout}s` }),
    ...(stage && { after: [{ name: stage.name }] }),
    ...(kind === 'health' && { healthCheckSelector: { matchLabels: { app: name } } }),
  };
  await admin.create(rollout(namespace, name, { labels, spec: settings }));
}

/** The one that an `after` comes after: the next in the list. */
export function stageBefore(app: App, apps: readonly App[]): App | undefined {
  return app.kind === 'after' ? apps[apps.indexOf(app) + 1] : undefined;
}

export const imagePolicyOf = ({ namespace, name }: App) =>
  imagePolicy(namespace, name, { imageRepositoryRef: { name: SOURCE } });
