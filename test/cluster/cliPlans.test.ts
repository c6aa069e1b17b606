/** adopt and doctor against the real API server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import {
  type AnyObject,
  kustomization,
  ociRepository,
  ref,
  rollout,
  sharedCluster,
  waitFor,
} from './support/cluster.ts';
import { gated } from './support/gates.ts';
import { expectGolden } from './support/golden.ts';

const view = sharedCluster();
const { admin, developer, sre, newNamespace, publish } = view;

const as = (user: keyof typeof USERS, line: string, around: RelatedObjects = {}): Promise<Called> =>
  call(line, { ...around, env: { KUBECONFIG: join(view.dir, USERS[user].file), ...around.env } });

const golden = async (name: string, namespace: string, called: Called, code = 0) => {
  const text = `${called.out}${called.err && `--- stderr\n${called.err}`}--- exit code ${called.code}\n`;
  await expectGolden(name, text, namespace);
  expect(called.code).toBe(code);
};

describe('adopt', () => {
  let ns: string;
  const folder = mkdtempSync(join(tmpdir(), 'adopt-'));

  beforeAll(async () => {
    ns = await newNamespace();
    await publish(ns, 'app', '2.0.0');
    const running = kustomization(ns, 'app', {});
    await developer.create({
      ...running,
      spec: { ...running.spec, postBuild: { substitute: { APP_VERSION: '1.0.0' } } },
    });
    await developer.create({
      ...ociRepository(ns, 'app'),
      spec: { ...ociRepository(ns, 'app').spec, ref: { tag: '1.0.0' } },
    });
    // Flux has fetched and applied it: it runs.
    const flux = fakeFlux(view);
    await flux.fetch(ns, 'app');
    await flux.apply(ns, 'app');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('shows what it would do, and does nothing', async () => {
    await golden('adopt', ns, await as('developer', `adopt kustomization/app -n ${ns}`));
    expect(await admin.find(ref('rollout', ns, 'app'))).toBeUndefined();
  });

  it('writes it into files, for Git, over nobody’s work', async () => {
    const { code, out } = await as('developer', `adopt ocirepository/app -n ${ns} --out ${folder}`);
    expect([code, out.trim().split('\n').length]).toEqual([0, 3]);
    expect(readdirSync(folder).sort()).toEqual([
      'ocirepository-app.yaml',
      'rollout-app.yaml',
      'rolloutgate-app-take-over.yaml',
    ]);
    expect(parse(readFileSync(join(folder, 'rollout-app.yaml'), 'utf8'))).toMatchObject({
      kind: 'Rollout',
      spec: { releasesImagePolicy: { name: 'app' }, initialVersion: '1.0.0' },
    });
    const bound = readFileSync(join(folder, 'ocirepository-app.yaml'), 'utf8');
    expect(bound).toMatch(/^# A patch: merge it into your manifest of OCIRepository app\.\n/);
    const again = await as('developer', `adopt ocirepository/app -n ${ns} --out ${folder}`);
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/is there already/)]);
  });

  it('by somebody who may not hold what comes next does nothing', async () => {
    await golden('adopt-denied', ns, await as('developer', `adopt kustomization/app -n ${ns} --apply`), 1);
    expect(await admin.find(ref('rollout', ns, 'app'))).toBeUndefined();
  });

  it('changes nothing that runs', async () => {
    const before = (await admin.get(ref('kustomization', ns, 'app'))).metadata.generation;
    await golden('adopt-apply', ns, await as('sre', `adopt kustomization/app -n ${ns} --apply`));
    await golden('adopt-second', ns, await as('sre', `adopt ocirepository/app -n ${ns} --apply`));
    const found = await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'app'));
      return status?.pendingVersion === '2.0.0' && status;
    }, '2.0.0 to wait');
    expect(found.history).toMatchObject([{ id: 1, version: { tag: '1.0.0' } }]);
    const { metadata, spec } = await admin.get(ref('kustomization', ns, 'app'));
    expect([metadata.generation, spec.postBuild.substitute.APP_VERSION]).toEqual([before, '1.0.0']);
  });

  it('of a kind that nothing is set on', async () => {
    const { code, err } = await as('developer', 'adopt deployment/app');
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^'deployment' is not a known kind\. Known are kustomization, /),
    ]);
  });

  it('of what is bound already', async () =>
    golden('adopt-bound', ns, await as('sre', `adopt kustomization/app -n ${ns}`), 1));
});

describe('doctor', () => {
  it('finds nothing in an installation that is right', async () => {
    const ns = await newNamespace();
    const called = await as('admin', `doctor -n ${ns}`);
    await golden('doctor', ns, {
      ...called,
      out: called.out.replace(/v1\.\d+\.\d+/, 'VERSION').replace(/all \d+/, 'all'),
    });
  });

  it('finds what waits for what does not exist', async () => {
    const ns = await newNamespace();
    await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'gone' }] } }));
    await developer.create(
      kustomization(ns, 'app', { variables: { V: 'nobody' }, annotations: { 'gate.fluxcd.io/gates': 'missing' } }),
    );
    await sre.create(
      objectOf('RolloutGate', {
        metadata: { namespace: ns, name: 'qa' },
        spec: { rolloutRef: { name: 'nobody' } },
      } as never) as AnyObject,
    );
    const found = await waitFor(async () => {
      const called = await as('admin', `doctor -n ${ns}`);
      return called.err.startsWith('5 findings') && called;
    }, 'five findings');
    await golden(
      'doctor-findings',
      ns,
      { ...found, out: found.out.replace(/v1\.\d+\.\d+/, 'VERSION').replace(/all \d+/, 'all') },
      1,
    );
  });

  it('finds a version that no ImageUpdateAutomation commits', async () => {
    const ns = await newNamespace();
    const findings = async () => {
      const { out } = await as('admin', `doctor -n ${ns} -o json`);
      const { findings } = JSON.parse(out) as { findings: { level: string; about: string; text: string }[] };
      return findings.filter(({ about }) => about === 'Write-back').map(({ level, text }) => `${level}: ${text}`);
    };
    await publish(ns, 'app', '1.0.0');
    await developer.create(rollout(ns, 'app', { spec: { writeBack: { imagePolicy: 'app-deployed' } } }));
    await waitFor(() => admin.find(ref('imagePolicy', ns, 'app-deployed')), 'the derived ImagePolicy');
    expect(await findings()).toEqual([
      `problem: Rollout ${ns}/app writes back, and no ImageUpdateAutomation in ${ns} with the strategy Setters selects ImagePolicy app-deployed: nothing is committed`,
    ]);
    const automation = gated('ImageUpdateAutomation', ns, 'commit', undefined, { update: { strategy: 'Setters' } });
    await developer.create(automation);
    expect(await findings()).toEqual([
      expect.stringMatching(/^unseen: whether a marker in Git names ImagePolicy .*\/app, which ImageUpdateAutomation/),
    ]);
    const exists = { key: 'rollout.kuberik.com/rollout-name', operator: 'Exists' };
    await developer.mergePatch(automation as never, { spec: { policySelector: { matchExpressions: [exists] } } });
    expect(await findings()).toEqual([]);
  });

  it('says what somebody may not read', async () => {
    const ns = await newNamespace();
    const { out, code } = await as('developer', `doctor -n ${ns} -o json`);
    const { findings } = JSON.parse(out) as { findings: { level: string; about: string }[] };
    expect(code).toBe(0);
    expect(findings.filter(({ level }) => level === 'unseen').map(({ about }) => about)).toEqual(
      expect.arrayContaining(['Kinds', 'Webhooks', 'Admission', 'Rights']),
    );
  });
});
