/**
 * The life of one Flux object among Gates and Rollouts: everybody writes it, Gates open and close, Rollouts deploy, and
 * after each step the naive rules say what must not have happened.
 */
import fc from 'fast-check';
import { withOwners } from '../../fakes/fieldOwners.ts';
import { isSelected, managedFieldsOf, managedValue, names, thawed } from '../../reference/flux.ts';
import type { GateSpec } from '../../reference/gate.ts';
import { type AnyObject, admit, ROUTES, serve } from '../world/apiServer.ts';
import { ask } from '../world/call.ts';
import { expectThat } from '../world/finding.ts';
import { isSystemDeleter, KUSTOMIZE_CONTROLLER, METACONTROLLER, mayBreak, WRITERS } from '../world/users.ts';
import { type Edit, edited, edits, GATES, REASON } from './edits.ts';
import { ModelledGate, rfc3339 } from './gateModel.ts';
import { type Ask, asks, gateSpec, selects } from './gateParts.ts';

const START = Date.parse('2026-03-27T10:00:00Z');
const PATHS = ['shop/a', 'shop/b', 'ops/freeze'] as const;
const TAGS = ['1.0.0', '1.1.0', '1.2.0'];
const VALID_NAME = /^([a-z0-9-]+\/)?[a-z0-9.-]+$/;

type How = 'apply' | 'client-side apply' | 'update';

type Step =
  | { do: 'wait'; seconds: number }
  | { do: 'ask'; gate: number; asks: Ask[]; strip: boolean }
  | { do: 'sync'; gate: number }
  | { do: 'respecify'; gate: number; spec: GateSpec }
  | { do: 'deleteGate'; gate: number; by: string }
  | { do: 'deploy'; rollout: 'app' | 'web'; tag: string }
  | { do: 'requireGate'; rollout: 'app' | 'web'; gates: string[] }
  | { do: 'forgetRollout'; rollout: 'app' | 'web' }
  | { do: 'write'; by: string; how: How; edits: Edit[]; reason?: string | undefined }
  | { do: 'delete'; by: string }
  | { do: 'decorate' }
  | { do: 'namespace'; team: string; going: boolean };

export interface Story {
  kind: string;
  gates: { spec: GateSpec; selects?: object | undefined }[];
  born: Edit[];
  steps: Step[];
}

const writer = fc.constantFrom<string>(...WRITERS, 'developer', 'developer', KUSTOMIZE_CONTROLLER);
const gate = fc.integer({ min: 0, max: PATHS.length - 1 });
const rollout = fc.constantFrom('app' as const, 'web' as const);
const is = <T extends string>(name: T) => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: is('wait'), seconds: fc.constantFrom(0, 1, 61, 3600, 7200, 86_400) }) },
  { weight: 4, arbitrary: fc.record({ do: is('ask'), gate, asks, strip: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: is('sync'), gate }) },
  { weight: 1, arbitrary: fc.record({ do: is('respecify'), gate, spec: gateSpec }) },
  { weight: 1, arbitrary: fc.record({ do: is('deleteGate'), gate, by: writer }) },
  { weight: 2, arbitrary: fc.record({ do: is('deploy'), rollout, tag: fc.constantFrom(...TAGS) }) },
  { weight: 1, arbitrary: fc.record({ do: is('requireGate'), rollout, gates: fc.subarray([...PATHS]) }) },
  { weight: 1, arbitrary: fc.record({ do: is('forgetRollout'), rollout }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: is('write'),
      by: writer,
      how: fc.constantFrom<How>('apply', 'client-side apply', 'update'),
      edits,
      reason: fc.constantFrom(undefined, undefined, undefined, undefined, 'INC-1', 'INC-2'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('delete'), by: writer }) },
  { weight: 4, arbitrary: fc.record({ do: is('decorate') }) },
  { weight: 1, arbitrary: fc.record({ do: is('namespace'), team: fc.constantFrom('a', 'b'), going: fc.boolean() }) },
);

export const story: fc.Arbitrary<Story> = fc.record({
  kind: fc.constantFrom('Kustomization', 'Kustomization', 'OCIRepository', 'GitRepository', 'HelmRelease'),
  gates: fc.array(fc.record({ spec: gateSpec, selects: fc.option(selects, { nil: undefined, freq: 2 }) }), {
    minLength: 3,
    maxLength: 3,
  }),
  born: edits,
  steps: fc.array(step, { minLength: 1, maxLength: 14 }),
});

const API_VERSIONS: Record<string, string> = {
  Kustomization: 'kustomize.toolkit.fluxcd.io/v1',
  OCIRepository: 'source.toolkit.fluxcd.io/v1',
  GitRepository: 'source.toolkit.fluxcd.io/v1',
  HelmRelease: 'helm.toolkit.fluxcd.io/v2',
};

const MANAGERS: Record<How, { manager: string; operation: 'Apply' | 'Update' }> = {
  apply: { manager: 'kustomize-controller', operation: 'Apply' },
  'client-side apply': { manager: 'kubectl-client-side-apply', operation: 'Update' },
  update: { manager: 'kubectl-edit', operation: 'Update' },
};
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

class World {
  now = START;
  readonly gates = new Map<string, ModelledGate>();
  readonly rollouts = new Map<string, AnyObject>();
  readonly blank: AnyObject;
  team = 'a';
  going = false;
  object: AnyObject | undefined;
  /** The closed gates behind which the object runs on, since they were bypassed. */
  runsOn: string[] | undefined;

  constructor(kind: string) {
    this.blank = {
      apiVersion: API_VERSIONS[kind]!,
      kind,
      metadata: { namespace: 'shop', name: 'web', uid: 'uid-web', generation: 1 },
      spec: { interval: '10m' },
    };
    for (const name of ['app', 'web']) this.deploy(name, '1.0.0');
  }

  objects(): AnyObject[] {
    const gates = [...this.gates.values()].map(({ stored }) => stored);
    return [...gates, ...this.rollouts.values(), this.namespace, ...(this.object ? [this.object] : [])];
  }

  get namespace(): AnyObject {
    const metadata = {
      name: 'shop',
      labels: { team: this.team },
      ...(this.going && { deletionTimestamp: rfc3339(this.now) }),
    };
    return { apiVersion: 'v1', kind: 'Namespace', metadata };
  }

  deploy(name: string, tag: string): void {
    const before = this.rollouts.get(name);
    const history = before?.status.history ?? [];
    const timestamp = rfc3339(this.now - 3_600_000);
    this.rollouts.set(name, {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'Rollout',
      metadata: { namespace: 'shop', name, uid: `uid-${name}`, labels: { tier: 'production' } },
      spec: { releasesImagePolicy: { name }, ...before?.spec },
      status: { history: [{ id: history.length + 1, version: { tag }, timestamp }, ...history] },
    });
  }

  /** `namespace/name` of what an object requires: those it names, and those in its annotation SELECTED_BY that exist and select it. */
  required(object: AnyObject | undefined): string[] {
    if (!object) return [];
    const { annotations = {} } = object.metadata;
    const named = (annotations[GATES] ?? '').split(',').map((part) => part.trim());
    const marked = names(annotations['gate.fluxcd.io/selected-by'], 'shop').filter((path) =>
      this.selects(path, object),
    );
    return [...new Set([...names(named.filter((name) => VALID_NAME.test(name)).join(','), 'shop'), ...marked])];
  }

  selects(path: string, object: AnyObject): boolean {
    const found = this.gates.get(path);
    return Boolean(found?.selects && isSelected(object, found.selects, path.split('/')[0]!, { team: this.team }));
  }

  /** "A Gate that does not exist counts as closed." */
  closed(paths: readonly string[]): string[] {
    return paths.filter((path) => !this.gates.get(path)?.isOpen(this.now));
  }

  /** The closed Gates of the Rollouts from which a write takes a field. */
  closedOfLeft(before: AnyObject, after: AnyObject): string[] {
    const kept = managedFieldsOf(after);
    const left = [...managedFieldsOf(before)]
      .filter(([field, name]) => kept.get(field) !== name)
      .map(([, name]) => name);
    return left.flatMap((name) => {
      const found = this.rollouts.get(name);
      if (!found) return [];
      const named = (found.spec.gates ?? []).map((ref: any) => `${ref.namespace}/${ref.name}`);
      return this.closed([...named, ...[...this.gates.keys()].filter((path) => this.selects(path, found))]);
    });
  }
}

export async function checkStory({ kind, gates, born, steps }: Story): Promise<void> {
  const world = new World(kind);
  serve(world);
  for (const [i, path] of PATHS.entries()) {
    const [namespace, name] = path.split('/') as [string, string];
    world.gates.set(path, await ModelledGate.create(namespace, name, gates[i]!.spec, gates[i]!.selects));
  }
  await write(world, { do: 'write', by: 'developer', how: 'apply', edits: born });
  for (const each of steps) await take(world, each);
}

async function take(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'wait':
      world.now += step.seconds * 1000;
      return;
    case 'ask':
      return world.gates.get(PATHS[step.gate]!)?.ask(step.asks, 'sre', world.now, step.strip);
    case 'sync':
      return world.gates.get(PATHS[step.gate]!)?.sync(world.now);
    case 'respecify':
      return world.gates.get(PATHS[step.gate]!)?.respecify(step.spec, world.now);
    case 'deleteGate':
      return deleteGate(world, PATHS[step.gate]!, step.by);
    case 'deploy':
      return world.deploy(step.rollout, step.tag);
    case 'requireGate': {
      const found = world.rollouts.get(step.rollout);
      const refs = step.gates.map((path) => ({ namespace: path.split('/')[0], name: path.split('/')[1] }));
      if (found) world.rollouts.set(step.rollout, { ...found, spec: { ...found.spec, gates: refs } });
      return;
    }
    case 'forgetRollout':
      world.rollouts.delete(step.rollout);
      return;
    case 'write':
      return write(world, step);
    case 'delete':
      return remove(world, step.by);
    case 'decorate':
      return decorate(world);
    case 'namespace':
      world.team = step.team;
      world.going = step.going;
  }
}

async function write(world: World, { by, how, edits: list, reason }: Step & { do: 'write' }): Promise<void> {
  const { object: before } = world;
  const { manager, operation } = MANAGERS[how];
  const wanted = [...list, ...(reason ? [{ path: ['metadata', 'annotations', REASON], value: reason }] : [])];
  let sent = edited(before ?? world.blank, wanted);
  if (how === 'client-side apply') {
    const { spec, metadata } = sent;
    const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
    const configuration = JSON.stringify({ spec, metadata: { annotations } });
    sent = edited(sent, [{ path: ['metadata', 'annotations', LAST_APPLIED], value: configuration }]);
  }
  sent = withOwners(sent, before, manager, operation);
  await store(world, sent, by, manager);
}

/** Sends a write, holds the outcome against the rules, and stores it. */
async function store(world: World, sent: AnyObject, by: string, fieldManager: string): Promise<void> {
  const { object: before } = world;
  const outcome = await admit({ user: by, object: sent, oldObject: before, fieldManager });
  if (!outcome.allowed) return;
  const after = outcome.object!;
  const details = {
    by,
    before,
    sent,
    after,
    now: rfc3339(world.now),
    gates: [...world.gates.values()].map(({ stored }) => stored),
  };
  const closedBefore = world.closed(world.required(before));
  const left = before ? world.closedOfLeft(before, after) : [];
  const given = sent.metadata.annotations?.[REASON]?.trim();
  const isFresh = Boolean(before && given && given !== before.metadata.annotations?.[REASON]?.trim());
  const broken = isFresh && closedBefore.length + left.length > 0 && mayBreak(by, [...closedBefore, ...left]);

  if (before && closedBefore.length > 0 && !broken) {
    const moved = thawed(after, before, isSystemDeleter(by));
    expectThat(moved.length === 0, `behind closed ${closedBefore} a write changes ${moved.join(', ')}`, details);
    const free = closedBefore.filter(
      (path) =>
        world.selects(path, before) &&
        !names(before.metadata.annotations?.[GATES], 'shop').includes(path) &&
        !world.selects(path, after),
    );
    expectThat(free.length === 0, `a write leaves the selection of closed ${free}`, details);
  }
  expectThat(left.length === 0 || broken, `a write leaves a Rollout that requires closed ${left}`, details);
  expectMarks(world, before, after, details);
  if (outcome.asked) expectSuspension(world, after, broken, details);
  if (!before) expectCreatedClosed(world, after, details);
  if (outcome.asked && (closedBefore.length === 0 || broken)) expectManagedFields(world, after, details);
  if (broken && after.spec?.suspend !== true) world.runsOn = world.closed(world.required(after));
  if (world.closed(world.required(after)).length === 0) world.runsOn = undefined;
  world.object = after;
}

/** No write removes an object from a Gate that selects it. */
function expectMarks(world: World, before: AnyObject | undefined, after: AnyObject, details: object): void {
  const marked = (object: AnyObject | undefined) =>
    names(object?.metadata.annotations?.['gate.fluxcd.io/selected-by'], 'shop');
  const lost = marked(before).filter((path) => world.selects(path, after) && !marked(after).includes(path));
  expectThat(lost.length === 0, `selected-by of the object loses ${lost}, which selects it`, details);
}

function expectSuspension(world: World, after: AnyObject, broken: boolean, details: object): void {
  if (after.metadata.deletionTimestamp || broken) return;
  const closed = world.closed(world.required(after));
  const runsOn = world.runsOn !== undefined && closed.every((path) => world.runsOn!.includes(path));
  if (closed.length > 0 && !runsOn)
    expectThat(after.spec?.suspend === true, `behind closed ${closed} the object is not suspended`, details);
}

/** A new object that a closed Gate selects is suspended in the request that creates it. */
function expectCreatedClosed(world: World, after: AnyObject, details: object): void {
  const closed = world.closed([...world.gates.keys()].filter((path) => world.selects(path, after)));
  if (closed.length > 0)
    expectThat(after.spec?.suspend === true, `selected by closed ${closed} the new object is not suspended`, details);
}

/** "From then on the value is held." */
function expectManagedFields(world: World, after: AnyObject, details: object): void {
  for (const [field, name] of managedFieldsOf(after)) {
    const head = world.rollouts.get(name)?.status.history[0]?.version.tag;
    if (head === undefined) continue;
    expectThat(
      managedValue(after, field) === head,
      `${field} is ${managedValue(after, field)}, Rollout ${name} has deployed ${head}`,
      details,
    );
    if (field === 'tag')
      expectThat(!after.spec.ref.digest && !after.spec.ref.semver, 'something beside the tag overrides it', details);
  }
}

async function remove(world: World, by: string): Promise<void> {
  const { object } = world;
  if (!object) return;
  const { allowed } = await admit({ user: by, oldObject: object });
  const closed = world.closed(world.required(object));
  const annotations = object.metadata.annotations ?? {};
  const [, at, user] = /^(\S+) (.*)$/.exec(annotations['gate.fluxcd.io/bypassed-by'] ?? '') ?? [];
  const justified =
    user === by && world.now - Date.parse(at!) <= 300_000 && annotations[REASON] && mayBreak(by, closed);
  const passes = isSystemDeleter(by) || world.going || Boolean(justified);
  const details = { by, object, closed, now: rfc3339(world.now) };
  if (closed.length > 0 && !passes) expectThat(!allowed, `behind closed ${closed} the object is deleted`, details);
  if (allowed) {
    world.object = undefined;
    world.runsOn = undefined;
  }
}

async function deleteGate(world: World, path: string, by: string): Promise<void> {
  const found = world.gates.get(path);
  if (!found) return;
  const { allowed } = await admit({ user: by, oldObject: found.stored });
  if (allowed) world.gates.delete(path);
}

/** As Metacontroller does: what the hook answers is written over what it was asked about. */
async function decorate(world: World): Promise<void> {
  const { object } = world;
  if (!object) return;
  const related: Record<string, Record<string, AnyObject>> = { 'Namespace.v1': { shop: world.namespace } };
  const selecting = [...world.gates.values()].filter(({ selects: any }) => any !== undefined);
  related['Gate.gating.toolkit.fluxcd.io/v1alpha1'] = Object.fromEntries(
    selecting.map(({ path, stored }) => [path, stored]),
  );
  const body = {
    controller: { apiVersion: '', kind: '', metadata: {} },
    object,
    attachments: {},
    related,
    finalizing: false,
  };
  const answer = await ask(ROUTES.get('/hooks/flux/sync')!, body);
  if (!('body' in answer)) return expectThat(false, 'a sync is refused', { answer, object });
  const [binding] = answer.body.attachments as AnyObject[];
  if (binding) await bind(world, binding);
  const annotations = Object.entries((answer.body.annotations ?? {}) as Record<string, string | null>);
  if (annotations.length === 0) return;
  const list = annotations.map(([key, value]) => ({
    path: ['metadata', 'annotations', key],
    ...(value !== null && { value }),
  }));
  await store(
    world,
    withOwners(edited(object, list), object, 'metacontroller', 'Update'),
    METACONTROLLER,
    'metacontroller',
  );
  const selectedBy = names(world.object?.metadata.annotations?.['gate.fluxcd.io/selected-by'], 'shop');
  const missing = selecting.filter(
    ({ path, stored }) => world.selects(path, object) && stored.metadata.labels && !selectedBy.includes(path),
  );
  if (world.object?.metadata.annotations !== undefined && !world.going)
    expectThat(missing.length === 0, 'a sync leaves a Gate that selects the object out of selected-by', {
      object: world.object,
      missing,
    });
}

/** The object's FluxBinding says of each Gate what the rules say. */
async function bind(world: World, binding: AnyObject): Promise<void> {
  const gates = Object.fromEntries([...world.gates].map(([path, { stored }]) => [path, stored]));
  const rollouts = Object.fromEntries([...world.rollouts].map(([name, stored]) => [`shop/${name}`, stored]));
  const related = { 'Gate.gating.toolkit.fluxcd.io/v1alpha1': gates, 'Rollout.kuberik.com/v1alpha1': rollouts };
  const parent = { ...binding, metadata: { ...binding.metadata, uid: 'uid-binding', generation: 1 } };
  const controller = { apiVersion: '', kind: '', metadata: {} };
  const body = { controller, parent, children: {}, related, finalizing: false };
  const answer = await ask(ROUTES.get('/hooks/fluxbinding/sync')!, body);
  if (!('body' in answer)) return expectThat(false, 'a sync of a binding is refused', { answer, parent });
  const said = (answer.body.status.gates ?? []) as { namespace: string; name: string; opened: boolean }[];
  for (const { namespace, name, opened } of said) {
    const isOpen = world.closed([`${namespace}/${name}`]).length === 0;
    expectThat(opened === isOpen, `the binding says that ${namespace}/${name} is ${opened ? 'open' : 'closed'}`, {
      said,
      now: rfc3339(world.now),
    });
  }
}
