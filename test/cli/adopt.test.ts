/** `adopt`: its output, the files it writes, and the order of its writes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { objectOf } from '../support/objects.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { type ObjectServer, type Rules, type Stored, typed } from './objectServer.ts';
import { golden, NAMESPACE } from './scenario.ts';

const metadata = { namespace: NAMESPACE, name: 'app' };
const policy = objectOf('ImagePolicy', {
  metadata,
  spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '>=1.0.0' } } },
  status: { latestRef: { name: 'registry.example.com/app', tag: '2.0.0' } },
} as never);
const runs = objectOf('Kustomization', {
  metadata,
  spec: { postBuild: { substitute: { APP_VERSION: '1.0.0' } } },
} as never);
const source = objectOf('OCIRepository', {
  metadata,
  spec: { url: 'oci://registry.example.com/app', ref: { tag: '1.0.0' } },
} as never);
const OBJECTS = [policy, runs, source] as Stored[];
const started = (rollout: Stored): Stored => ({
  ...rollout,
  status: { history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: '' }] },
});

const adopt = (words: string, objects: Stored[] = OBJECTS, rules: Rules = {}) =>
  typed(['adopt', ...words.split(' '), '-n', NAMESPACE], objects, {}, rules);

it('shows the changes without making them', async () => {
  const called = await adopt('kustomization/app');
  expect(called.writes).toEqual([]);
  await golden('adopt', called);
});

it('writes files for Git, and overwrites none', async () => {
  const folder = temporaryFolder('adopt-');
  const { code, out } = await adopt(`ocirepository/app --out ${folder}`);
  expect([code, out.trim().split('\n').length]).toEqual([0, 3]);
  expect(readdirSync(folder).sort()).toEqual([
    'ocirepository-app.yaml',
    'rollout-app.yaml',
    'rolloutgate-app-adoption.yaml',
  ]);
  expect(parse(readFileSync(join(folder, 'rollout-app.yaml'), 'utf8'))).toMatchObject({
    kind: 'Rollout',
    spec: { releasesImagePolicy: { name: 'app' }, initialVersion: '1.0.0' },
  });
  const bound = readFileSync(join(folder, 'ocirepository-app.yaml'), 'utf8');
  expect(bound).toMatch(/^# A patch: merge it into your manifest of OCIRepository app\.\n/);
  const again = await adopt(`ocirepository/app --out ${folder}`);
  expect([again.code, again.err]).toEqual([1, expect.stringMatching(/exists already/)]);
});

it('writes no file outside the folder, whatever name the API server sends', async () => {
  const folder = temporaryFolder('adopt-');
  const hostile = { ...policy, metadata: { ...metadata, name: 'x/../../app' } } as Stored;
  const { code, err } = await adopt(`kustomization/app --out ${join(folder, 'out')}`, [hostile, runs as Stored]);
  expect([code, err]).toEqual([1, expect.stringContaining("'x/../../app-adoption' has no valid name")]);
  expect(readdirSync(folder)).toEqual([]);
});

it('does nothing if the user may not hold the next version', async () => {
  const refuses = ({ path }: { path: string }) => (path.endsWith('/rolloutgates') ? 'you may not' : undefined);
  expect(await adopt('kustomization/app --apply', OBJECTS, { refuses })).toMatchObject({
    code: 1,
    out: '',
    err: 'you may not.\n',
    writes: [],
  });
});

it('holds the next version, adopts the running one, and binds the object last', async () => {
  let isStarted = false;
  const startedAtBinding: boolean[] = [];
  const react = (server: ObjectServer, { body, method }: { body: Stored; method: string | undefined }) => {
    if (method === 'PATCH') startedAtBinding.push(isStarted);
    if (body.kind !== 'Rollout') return;
    setTimeout(() => {
      isStarted = true;
      server.put(started(body));
    }, 50);
  };
  const called = await adopt('kustomization/app --apply', OBJECTS, { react });
  expect(called.writes.map(({ method, path }) => `${method} ${path.split('/').slice(6).join('/')}`)).toEqual([
    'POST rolloutgates',
    'POST healthchecks',
    'POST rollouts',
    'PATCH kustomizations/app',
  ]);
  expect(startedAtBinding).toEqual([true]);
  await golden('adopt-apply', called);
});

it.each<[string, (object: any) => Stored]>([
  [
    'a Git sync has moved it to another version',
    (object) => ({ ...object, spec: { postBuild: { substitute: { APP_VERSION: '1.1.0' } } } }),
  ],
  [
    'another user has bound it',
    (object) => ({
      ...object,
      metadata: { ...metadata, annotations: { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'other' } },
    }),
  ],
])('binds no object after %s while the Rollout started', async (_, changed) => {
  const react = (server: ObjectServer, { body }: { body: Stored }) => {
    if (body.kind === 'Rollout') server.put(changed(runs), started(body));
  };
  const { writes, code, err } = await adopt('kustomization/app --apply', OBJECTS, { react });
  expect(writes.filter(({ method }) => method === 'PATCH')).toEqual([]);
  expect(code).toBe(1);
  expect(err).toMatch(/^Kustomization \S+ has changed since it was read, so it was not bound to Rollout /m);
});

it('binds the object as it was read last', async () => {
  const read = { ...runs, metadata: { ...metadata, resourceVersion: '2' } } as Stored;
  const react = (server: ObjectServer, { body }: { body: Stored }) => {
    if (body.kind === 'Rollout') server.put({ ...read, status: { observedGeneration: 1 } }, started(body));
  };
  const { writes } = await adopt('kustomization/app --apply', OBJECTS, { react });
  expect(writes.at(-1)?.body.metadata.resourceVersion).toBe('2');
});

it('binds another object to the existing Rollout', async () => {
  const rollout = started(objectOf('Rollout', { metadata, spec: { releasesImagePolicy: { name: 'app' } } }) as Stored);
  const called = await adopt('ocirepository/app --apply', [...OBJECTS, rollout]);
  expect(called.writes).toMatchObject([{ method: 'PATCH' }]);
  await golden('adopt-second', called);
});

it.each<[what: string, words: string, hint: string]>([
  ['an unknown kind', 'deployment/app', ''],
  ['a kind that takes no version', 'gate/app', ''],
  ['a name without a kind', 'app', ''],
  [
    'a HelmRelease',
    'helmrelease/app',
    ' The version of a HelmRelease is that of its chart: adopt the OCIRepository in its spec.chartRef.',
  ],
])('refuses %s', async (_, words, hint) => {
  const err = `'${words}' cannot be put under a Rollout: expected kustomization/NAME or ocirepository/NAME.${hint}\n`;
  expect(await adopt(words, [])).toMatchObject({ code: 2, err, writes: [] });
});

it('says how to proceed with an object that is bound already', async () => {
  const annotations = { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'app' };
  const bound = { ...runs, metadata: { ...metadata, annotations } } as Stored;
  await golden('adopt-bound', await adopt('kustomization/app', [policy as Stored, bound]), 1);
});
