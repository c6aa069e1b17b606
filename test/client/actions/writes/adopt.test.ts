import { describe, expect, it } from 'vitest';
import type { FluxObject, ImagePolicy } from '../../../../api/flux.ts';
import { applyingKustomization } from '../../../../client/actions/writes/adoptedBake.ts';
import {
  type Adoption,
  type AdoptionContext,
  adopt,
  type Choices,
} from '../../../../client/actions/writes/adoption.ts';
import { fullText } from '../../../../core/text/commands.ts';
import { objectOf } from '../../../support/objects.ts';

const policy = (name: string, tag: string | undefined, range = '>=0.0.0'): ImagePolicy =>
  objectOf('ImagePolicy', {
    metadata: { namespace: 'shop', name },
    spec: { imageRepositoryRef: { name }, policy: { semver: { range } } },
    ...(tag && { status: { latestRef: { name: `registry.example.com/${name}`, tag } } }),
  } as never);

const kustomization = (substitute?: Record<string, string>, metadata: object = {}): FluxObject =>
  objectOf('Kustomization', {
    metadata: { namespace: 'shop', name: 'checkout', ...metadata },
    spec: substitute ? { postBuild: { substitute } } : {},
  } as never);

const repository = (ref?: object, revision?: string): FluxObject =>
  objectOf('OCIRepository', {
    metadata: { namespace: 'shop', name: 'manifests' },
    spec: { url: 'oci://registry.example.com/checkout-manifests', ...(ref && { ref }) },
    ...(revision && { status: { artifact: { revision } } }),
  } as never);

const around = (policies: ImagePolicy[], more: Partial<AdoptionContext> = {}): AdoptionContext => ({
  policies,
  images: new Map(policies.map(({ metadata }) => [metadata.name ?? '', `registry.example.com/${metadata.name}`])),
  rollouts: [],
  ...more,
});

/** An object that runs 1.4.0, and the policy that selects it. */
const RUNS = kustomization({ CHECKOUT_VERSION: '1.4.0' });
const CHECKOUT = around([policy('checkout', '1.4.0')]);

const adopted = (object: FluxObject, there: AdoptionContext, choices: Choices = {}): Adoption =>
  adopt(object, there, choices);

const problem = (object: FluxObject, there: AdoptionContext, choices: Choices = {}) => {
  try {
    return JSON.stringify(adopt(object, there, choices));
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a Kustomization', () => {
  it('gets a Rollout that adopts the running version, bound to its variable', () => {
    const found = adopted(RUNS, CHECKOUT);
    expect(found.rollout).toMatchObject({
      kind: 'Rollout',
      metadata: { name: 'checkout', namespace: 'shop' },
      spec: { releasesImagePolicy: { name: 'checkout' }, initialVersion: '1.4.0', gateFirstDeployment: false },
    });
    expect(found.annotations).toEqual({ 'rollout.kuberik.com/substitute.CHECKOUT_VERSION.from': 'checkout' });
    expect(found.gate).toBeUndefined();
  });

  it.each<[string, Choices, object]>([
    [
      'bakes, and fails what does not arrive, unless something else is planned for',
      {},
      { bakeTime: '10m', deployTimeout: '30m' },
    ],
    [
      'bakes as long as is planned for',
      { bakeTime: '1h', deployTimeout: '2h' },
      { bakeTime: '1h', deployTimeout: '2h' },
    ],
    ['bakes not at all only where that is planned for', { noBake: true }, {}],
  ])('%s', (_, choices, bake) => {
    const { rollout } = adopted(RUNS, CHECKOUT, choices);
    const releases = { releasesImagePolicy: { name: 'checkout' }, initialVersion: '1.4.0' };
    expect(rollout?.spec).toEqual({ ...releases, gateFirstDeployment: false, ...bake });
  });

  it.each<[Choices, string]>([
    [{ bakeTime: 'soon' }, "--bake-time: 'soon' is not a duration such as 90s, 10m or 1h30m."],
    [{ deployTimeout: '1d' }, "--deploy-timeout: '1d' is not a duration such as 90s, 10m or 1h30m."],
    [{ noBake: true, bakeTime: '10m' }, '--no-bake excludes --bake-time and --deploy-timeout.'],
  ])('refuses %o', (choices, text) => {
    expect(problem(RUNS, CHECKOUT, choices)).toBe(text);
  });

  it('keeps the bake of an existing Rollout, and reports that another was planned', () => {
    const existing = objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'checkout' },
      spec: { releasesImagePolicy: { name: 'checkout' }, initialVersion: '1.4.0' },
    } as never);
    const there = around([policy('checkout', '1.4.0')], { rollouts: [existing] });
    const found = adopted(RUNS, there, { bakeTime: '1h' });
    expect(found.rollout).toBeUndefined();
    expect(found.notes).toContainEqual({ text: 'Rollout shop/checkout exists already: its bake stays as it is' });
  });

  describe('and a HealthCheck of what its Kustomization applies', () => {
    const applier = (unreadable: string[] | undefined, spec: object = {}) => ({
      kustomization: objectOf('Kustomization', {
        metadata: { namespace: 'shop', name: 'web' },
        spec,
      } as never) as FluxObject,
      unreadable,
    });
    const existing = (labels: Record<string, string>) =>
      objectOf('HealthCheck', {
        metadata: {
          namespace: 'shop',
          name: 'checkout',
          labels,
          annotations: { 'healthcheck.kuberik.com/kustomization': 'web' },
        },
        spec: { class: 'kustomization' },
      });
    type Health = Partial<NonNullable<AdoptionContext['health']>>;
    const withHealth = (health: Health): AdoptionContext => ({
      ...CHECKOUT,
      health: { applier: undefined, healthChecks: [], ...health },
    });
    const NONE = 'Bakes of Rollout shop/checkout check no health: ';

    it('that the Rollout selects', () => {
      const { healthCheck, rollout, notes } = adopted(RUNS, withHealth({ applier: applier([]) }));
      expect(healthCheck).toEqual(existing({ app: 'checkout' }));
      expect(rollout?.spec.healthCheckSelector).toEqual({ selector: { matchLabels: { app: 'checkout' } } });
      expect(notes.map(fullText).join('\n')).not.toContain('HealthCheck');
    });

    it.each<[string, Choices, Health, boolean, string | undefined]>([
      [
        'also if an interrupted attempt has created it',
        {},
        { applier: applier([]), healthChecks: [existing({ app: 'checkout' })] },
        true,
        undefined,
      ],
      [
        'also if its rights are unknown',
        {},
        { applier: applier(undefined) },
        true,
        'Not checked whether the hook server may read each object of Kustomization shop/web',
      ],
      ['but not if several apply it', {}, {}, false, `${NONE}create HealthChecks`],
      [
        'but not in place of another one',
        {},
        { applier: applier([]), healthChecks: [existing({})] },
        false,
        `${NONE}HealthCheck checkout exists already`,
      ],
      [
        'but not if it would never be Healthy',
        {},
        { applier: applier(['canaries.flagger.app']) },
        false,
        `${NONE}the hook server isn't allowed to read canaries.flagger.app, so a HealthCheck would never be Healthy. For a HealthCheck,`,
      ],
      [
        'and names what Flux proves instead',
        {},
        { applier: applier(['canaries.flagger.app'], { wait: true }) },
        false,
        'Flux waits until each version is ready (spec.wait), but nothing watches its bake',
      ],
      ['but not without a bake', { noBake: true }, { applier: applier([]) }, false, undefined],
      [
        'but not without a bake, where Flux waits for the objects',
        { noBake: true },
        { applier: applier([], { wait: true }) },
        false,
        'Kustomization shop/web has wait: true, so a version has Succeeded once',
      ],
    ])('%s', (_, choices, health, isPlanned, note) => {
      const found = adopted(RUNS, withHealth(health), choices);
      expect([found.healthCheck !== undefined, found.rollout?.spec.healthCheckSelector !== undefined]).toEqual([
        isPlanned,
        isPlanned,
      ]);
      const notes = found.notes.map(fullText).join('\n');
      if (note) expect(notes).toContain(note);
      else expect(notes).not.toMatch(/health|wait: true/i);
    });
  });

  it('keeps the running version if a newer one is published', () => {
    const found = adopted(RUNS, around([policy('checkout', '2.0.0')]));
    expect(found.version).toBe('1.4.0');
    expect(found.gate).toMatchObject({
      metadata: { name: 'checkout-adoption' },
      spec: { rolloutRef: { name: 'checkout' }, passing: false },
    });
    expect(found.notes.map(fullText).join('\n')).toContain('2.0.0 is published already');
  });

  it('finds the policy by the name of the variable, where several could select the version', () => {
    const there = around([policy('search', '2.0.0'), policy('checkout', '1.4.0')]);
    expect(adopted(RUNS, there).rolloutRef.name).toBe('checkout');
  });

  it('by whole words of it: APP_VERSION is no version of a', () => {
    const there = around(['a', 'b'].map((name) => policy(name, '1.4.0')));
    expect(() => adopt(kustomization({ APP_VERSION: '1.4.0' }), there, {})).toThrow(/More than one .* \(a, b\)/);
  });

  it('of the variables that have a version for the policy that the user names', () => {
    const two = kustomization({ APP: '1.4.0', OTHER: 'x' });
    const { annotations } = adopted(two, CHECKOUT, { policy: 'checkout' });
    expect(Object.keys(annotations)).toEqual(['rollout.kuberik.com/substitute.APP.from']);
  });

  it('also if the policy that the user names rejects the running version', () => {
    const there = around([policy('checkout', '2.0.0', '>=2.0.0')]);
    expect(adopted(RUNS, there, { policy: 'checkout' }).version).toBe('1.4.0');
  });

  it('from Git gets the advice to change Git', () => {
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'flux-system' };
    const found = adopted(kustomization({ V: '1.4.0' }, { labels }), CHECKOUT);
    expect(found.notes.map(fullText).join('\n')).toMatch(/Kustomization flux-system applies it from Git/);
  });

  it('that isn’t understood gets the advice to name the running version', () => {
    const found = adopted(kustomization(), CHECKOUT, { variable: 'APP', runs: '1.4.0' });
    expect(found.annotations).toEqual({ 'rollout.kuberik.com/substitute.APP.from': 'checkout' });
  });

  it.each<[string, FluxObject, AdoptionContext, Choices, RegExp]>([
    ['no variable', kustomization(), CHECKOUT, {}, /sets no variable to a version/],
    ['no policy', kustomization({ V: '1.4.0' }), around([]), {}, /No ImagePolicy .* \(existing: none\)/],
    [
      'two variables',
      kustomization({ A: '1.4.0', B: '1.4.0' }),
      CHECKOUT,
      {},
      /several variables .* \(A, B\): name one with --variable/,
    ],
    [
      'two policies',
      kustomization({ V: '1.4.0' }),
      around([policy('a', '1.4.0'), policy('b', '1.4.0')]),
      {},
      /More than one ImagePolicy selects 1\.4\.0 \(a, b\): name one with --policy/,
    ],
    [
      'a policy that is not there',
      kustomization({ V: '1.4.0' }),
      around([policy('a', '1.4.0')]),
      { policy: 'x' },
      /No ImagePolicy/,
    ],
    [
      'a variable that is bound',
      kustomization({ V: '1.4.0' }, { annotations: { 'rollout.kuberik.com/substitute.V.from': 'checkout' } }),
      CHECKOUT,
      {},
      /has every variable bound to a Rollout already/,
    ],
  ])('%s', (_, object, there, choices, sentence) => {
    expect(problem(object, there, choices)).toMatch(sentence);
  });
});

describe('an OCIRepository', () => {
  const there = around([policy('search', '1.4.0'), policy('checkout-manifests', '1.4.0')]);

  it('is bound to the policy of its image', () => {
    const found = adopted(repository({ tag: '1.4.0' }), there);
    expect(found.annotations).toEqual({ 'rollout.kuberik.com/rollout': 'checkout-manifests' });
  });

  it('that follows a range begins with the tag that it has fetched', () => {
    expect(adopted(repository({ semver: '>=1.0.0' }, '1.3.0@sha256:00'), there).version).toBe('1.3.0');
  });

  it('that has fetched nothing by a tag is no beginning', () => {
    expect(problem(repository(undefined, 'latest@sha256:00'), there)).toMatch(/name the running version with --runs/);
  });
});

describe('an existing Rollout', () => {
  const existing = (tag: string) =>
    objectOf('Rollout', {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { releasesImagePolicy: { name: 'checkout' } },
      status: { history: [{ id: 1, version: { tag }, timestamp: '2026-11-20T10:00:00Z' }] },
    } as never);

  it('is bound, and not made again', () => {
    const there = around([policy('checkout', '1.4.0')], { rollouts: [existing('1.4.0')] });
    const found = adopted(kustomization({ V: '1.4.0' }), there);
    expect([found.rolloutRef.name, found.rollout, found.gate]).toEqual(['web', undefined, undefined]);
  });

  it('with another version would change the running one', () => {
    const there = around([policy('checkout', '1.4.0')], { rollouts: [existing('1.5.0')] });
    expect(problem(kustomization({ V: '1.4.0' }), there)).toMatch(
      /has deployed 1\.5\.0, and .* runs 1\.4\.0: binding it would change what runs/,
    );
  });
});

describe('the Kustomization that applies', () => {
  const from = (name: string, sourceRef: object) =>
    objectOf('Kustomization', { metadata: { namespace: 'shop', name }, spec: { sourceRef } } as never) as FluxObject;
  const own = { kind: 'OCIRepository', name: 'manifests' };
  it.each<[string, FluxObject[], string | undefined]>([
    ['an artifact is the one with that source', [from('a', own), from('b', { ...own, name: 'other' })], 'a'],
    ['an artifact is unknown if there are several', [from('a', own), from('b', own)], undefined],
    [
      'an artifact is none with another kind or namespace',
      [from('a', { ...own, kind: 'Bucket' }), from('b', { ...own, namespace: 'x' })],
      undefined,
    ],
  ])('%s', (_, kustomizations, name) => {
    expect(applyingKustomization(repository(), kustomizations)?.metadata.name).toBe(name);
  });

  it('an inventory is the Kustomization itself', () => {
    expect(applyingKustomization(RUNS, [])).toBe(RUNS);
  });
});
