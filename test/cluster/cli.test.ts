/** The command against the real API server: what it prints is compared with the files in golden/. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { gate, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { ask } from './support/gates.ts';
import { expectGolden } from './support/golden.ts';
import { healthCheck, SELECTS_HEALTH, type Story, storyOf } from './support/rolloutStory.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;
const FILES = { admin: 'kubeconfig', developer: 'developer.kubeconfig', sre: 'sre.kubeconfig' };

let story: Story;
/** Where its Gate lives: a namespace of its own. */
let gates: string;

/** A minute later: how wide an age is, and where a line breaks, does not depend on how fast this machine is. */
const now = () => Date.now() + 60_000;

const as = (user: keyof typeof FILES, line: string, around: RelatedObjects = {}): Promise<Called> =>
  call(`${line} -n ${story.ns}`, { now, ...around, env: { KUBECONFIG: join(view.dir, FILES[user]), ...around.env } });

const golden = async (name: string, called: Called, code = 0) => {
  const text = `${called.out}${called.err && `--- stderr\n${called.err}`}--- exit code ${called.code}\n`;
  await expectGolden(name, text.replaceAll(gates, 'GATES'), story.ns);
  expect(called.code).toBe(code);
};

beforeAll(async () => {
  gates = await newNamespace();
  story = storyOf(view, await newNamespace());
  await admin.create(gate(gates, 'freeze', { spec: { default: 'opened' } }));
  await story.bind();
  await story.create({ gates: [{ name: 'freeze', namespace: gates }], bakeTime: '1s' });
  await story.publish('1.0.0');
  await story.arrive('1.0.0');
  await story.headIs('1.0.0', 'Succeeded');
});

describe('an application that runs', () => {
  it('get', async () => golden('get-done', await as('developer', 'get')));
  it('status', async () => golden('status-done', await as('developer', 'status app')));
  it('why', async () => golden('why-done', await as('developer', 'why app')));
});

describe('a version that waits for a Gate of another namespace and for a RolloutGate', () => {
  beforeAll(async () => {
    await ask(sre, gates, 'freeze', 'close', { more: { 'close.gate.fluxcd.io/reason': 'INC-7' } });
    await sre.create(rolloutGate(story.ns, 'qa', 'app', { passing: true, allowedVersions: ['1.0.0'] }));
    await story.publish('1.1.0');
    await story.conditionIs('DeploymentBlocked', { status: 'True', reason: 'GateClosed' });
    await story.conditionIs('WaitingForRolloutGates', { status: 'True' });
  });

  it('get', async () => golden('get-waits', await as('developer', 'get')));
  it('get on a terminal of 40 columns', async () =>
    golden('get-waits-40', await as('developer', 'get app', { columns: 40 })));
  it('get -o wide', async () => golden('get-wide', await as('developer', 'get -o wide')));
  it('get -o name', async () => golden('get-name', await as('developer', 'get -o name')));
  it('why, to somebody who may not open Gates', async () => golden('why-developer', await as('developer', 'why app')));
  it('why, to somebody who may', async () => golden('why-admin', await as('admin', 'why rollout/app')));
  it('why a Gate', async () => {
    const { out } = await call(`why gate/freeze -n ${gates}`, { env: { KUBECONFIG: join(view.dir, FILES.sre) } });
    expect(out).toContain('closed by sre: INC-7');
  });
  it('why a RolloutGate', async () => golden('why-rolloutgate', await as('sre', 'why rolloutgate/qa')));
  it('why a Kustomization', async () => golden('why-kustomization', await as('developer', 'why ks/app')));
  it('history', async () => golden('history', await as('developer', 'history app')));
  it('status', async () => golden('status-waits', await as('developer', 'status app'), 5));
  it('status --until, in vain', async () =>
    golden('status-timeout', await as('developer', 'status app --until baked --release 1.1.0 --timeout 2s'), 4));

  it('get -o json is the Application that the page shows', async () => {
    const { out } = await as('developer', 'get app -o json');
    expect(JSON.parse(out)).toMatchObject({
      namespace: story.ns,
      name: 'app',
      state: 'waits',
      waiting: { version: '1.1.0' },
      runs: { version: '1.0.0', outcome: 'Succeeded' },
    });
  });

  it('get -o yaml says the same', async () => {
    const { parse } = await import('yaml');
    const [json, yaml] = await Promise.all([as('developer', 'get app -o json'), as('developer', 'get app -o yaml')]);
    expect(parse(yaml.out).steps).toEqual(JSON.parse(json.out).steps);
  });
});

describe('somebody who may not read everything', () => {
  it('sees what they may, and what they could not', async () => {
    const name = `reader-${story.ns}`;
    await admin.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace: story.ns },
      rules: [{ apiGroups: ['kuberik.com'], resources: ['rollouts'], verbs: ['get', 'list', 'watch'] }],
    } as never);
    await admin.create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace: story.ns },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    } as never);
    const seen = await waitFor(async () => {
      const called = await as('admin', `get app --as ${name}`);
      return called.code === 0 ? called : undefined;
    }, 'the right to read Rollouts');
    await golden('get-half-blind', { ...seen, out: seen.out.replaceAll(name, 'READER') });
    const all = await as('admin', `get -A --as ${name}`);
    expect(all.code).toBe(1);
    expect(all.err).toMatch(/cannot list resource "rollouts".*\n$/);
  });
});

describe('HealthChecks of another namespace', () => {
  it('are steps too, and one that may not be watched is said to be left out', async () => {
    const team = `team-${Math.random().toString(36).slice(2)}`;
    const elsewhere = await newNamespace({ team });
    await admin.create(healthCheck(elsewhere, 'db', { annotations: { 'healthcheck.kuberik.com/watched-from': '*' } }));
    await admin.create(healthCheck(elsewhere, 'unwilling'));
    const other = storyOf(view, await newNamespace());
    const selector = { ...SELECTS_HEALTH.healthCheckSelector, namespaceSelector: { matchLabels: { team } } };
    await other.create({ bakeTime: '1h', healthCheckSelector: selector });
    // Else the first bake can start before the new namespace is known to match.
    await other.conditionIs('HealthChecksLeftOut', { status: 'True' });
    await other.publish('1.0.0');
    await other.headIs('1.0.0', 'Deploying');
    const seen = async (line: string) => {
      const env = { KUBECONFIG: join(view.dir, FILES.admin) };
      const { out } = await call(`${line} -n ${other.ns}`, { now, env });
      return out.replaceAll(elsewhere, 'ELSEWHERE');
    };
    await expectGolden('get-elsewhere', await seen('get'), other.ns);
    expect(await seen('get --watch --until waiting')).toContain(`${other.ns}/app: 1.0.0 is being deployed`);
  });
});

describe('a watch', () => {
  it('prints what changes, on a pipe, and ends once the version has come so far', async () => {
    const printed: string[] = [];
    const watching = as('developer', 'get app --watch --until baked --release 1.1.0', {
      onOutput: (all) => printed.splice(0, printed.length, all),
    });
    await waitFor(() => printed.join('').includes('1.1.0 waits, 1.0.0 runs'), 'the first look');
    await sre.mergePatch(
      { apiVersion: 'kuberik.com/v1alpha1', kind: 'RolloutGate', metadata: { name: 'qa', namespace: story.ns } },
      { spec: { allowedVersions: ['1.1.0'] } },
    );
    await ask(sre, gates, 'freeze', 'open');
    await story.headIs('1.1.0', { version: { tag: '1.1.0' } });
    await story.arrive('1.1.0');
    const { code, out } = await watching;
    expect(code).toBe(0);
    expect(out).toContain(`${story.ns}/app: RolloutGate qa passed: allows 1.1.0`);
    expect(out).toContain(`${story.ns}/app: 1.1.0 is being deployed`);
    expect(out).toContain(`${story.ns}/app: 1.1.0 runs`);
  });

  it('on a terminal leaves the cursor as it was after Ctrl-C, with 130', async () => {
    const interrupted = new AbortController();
    const watching = as('developer', 'get app --watch', {
      columns: 100,
      signal: interrupted.signal,
      onOutput: (all) => all.includes('1.1.0') && interrupted.abort(),
    });
    const { code, out } = await watching;
    expect(code).toBe(130);
    expect(out.startsWith('\x1b[?25l')).toBe(true);
    expect(out.endsWith('\x1b[?25h')).toBe(true);
  });

  it('status --until answers at once for what has come already', async () => {
    const { code, out } = await as('developer', 'status app --until baked --release 1.1.0');
    expect([code, out]).toEqual([0, `${story.ns}/app: 1.1.0 runs\n`]);
  });
});

describe('what is not there', () => {
  it.each([
    ['get nothing', /^There is no Rollout 'nothing' in namespace '.*'\.\n$/],
    ['why kustomization/nothing', /^There is no Kustomization 'nothing' in namespace '.*'\.\n$/],
    ['history app --diff 1 99', /^There is no deployment 99 in the history: it has 2, 1\.\n$/],
  ])('%s', async (line, sentence) => {
    const { code, out, err } = await as('developer', line);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(sentence);
  });

  it('is looked for elsewhere', async () => {
    const { err } = await call('get app -n default', { env: { KUBECONFIG: join(view.dir, FILES.admin) } });
    expect(err).toMatch(/^There is no Rollout 'app' in namespace 'default'\. There is one in '.*: add -n\.\n$/);
  });

  it('a namespace without Rollouts', async () => {
    const { code, err } = await call('get -n kube-public', { env: { KUBECONFIG: join(view.dir, FILES.admin) } });
    expect([code, err]).toEqual([
      0,
      "There are no Rollouts in namespace 'kube-public'.\nTo put a running application under one:\n  kubectl rollouts adopt kustomization/my-app\n",
    ]);
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { out } = await call(['__complete', ...words], { env: { KUBECONFIG: join(view.dir, FILES.developer) } });
    return out.trimEnd().split('\n');
  };

  it('offers the names of Rollouts in the namespace that is typed', async () => {
    expect(await complete('get', '-n', story.ns, '')).toEqual(['app', ':4']);
    expect(await complete('why', `--namespace=${story.ns}`, 'rolloutgate/')).toEqual(['rolloutgate/qa', ':4']);
    expect(await complete('get', '-n', story.ns.slice(0, -1))).toEqual([story.ns, ':4']);
  });

  it('offers nothing where there is no cluster', async () => {
    const { out, code } = await call(['__complete', 'get', ''], { env: { KUBECONFIG: '/nonexistent' } });
    expect([code, out]).toEqual([0, ':4\n']);
  });
});
