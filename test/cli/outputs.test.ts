/** Output of commands about one Rollout, for users and programs, and about missing objects. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Called, call, type RelatedObjects } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { objectServer, type Rules, typed } from './objectServer.ts';
import { applied, type CliScenario, golden, NAMESPACE, type Step, scenario } from './scenario.ts';

const FREEZE = { name: 'freeze', namespace: 'platform' };
const BOUND = ['kustomization-app', 'ocirepository-app'];
/** A minute later. */
const later = (of: CliScenario) => () => of.now + 60_000;

/** May write Rollouts, but neither Gates nor RolloutGates. */
const developer: Rules = { may: ({ resource }) => resource === 'rollouts' };
const everything: Rules = { may: () => true };

/** 1.0.0 runs in two Flux objects. */
async function running(): Promise<CliScenario> {
  const begun = await scenario(
    { gate: { ...FREEZE, default: 'opened' } },
    { spec: { gates: [FREEZE], bakeTime: '1s' } },
    { bind: { name: BOUND[0], kind: 'Kustomization' } },
    { bind: { name: BOUND[1], kind: 'OCIRepository' } },
    { publish: '1.0.0' },
    'settle',
    { advance: '2s' },
  );
  await begun.put(objectOf('Kustomization', { metadata: { namespace: NAMESPACE, name: 'app' } } as never));
  for (const binding of begun.all<any>('FluxBinding')) binding.spec.target.name = 'app';
  await applied(begun, ...BOUND);
  return begun.play('settle', { advance: '2s' }, 'settle');
}

/** 1.1.0 waits for a Gate of another namespace and for a RolloutGate. */
async function waiting(): Promise<CliScenario> {
  const record = { current: { action: 'close', at: '2026-03-01T12:00:04Z', by: 'sre', reason: 'INC-7' } };
  const annotations = { 'gate.fluxcd.io/accepted-request': JSON.stringify(record) };
  return (await running()).play(
    { gate: { ...FREEZE, default: 'opened', annotations } },
    { rolloutGate: { name: 'qa', allowedVersions: ['1.0.0'] } },
    { publish: '1.1.0' },
    'settle',
  );
}

let [runs, waits]: CliScenario[] = [];
beforeAll(async () => {
  [runs, waits] = await Promise.all([running(), waiting()]);
});

const seen = (of: CliScenario, line: string, rules: Rules = developer, around: RelatedObjects = {}): Promise<Called> =>
  typed(`${line} -n ${NAMESPACE}`.split(' '), of.stored, { now: later(of), ...around }, rules);

it.each(['get', 'get -o wide'])('an application to which nothing is bound: %s', async (line) => {
  const unbound = await scenario(
    { spec: { bakeTime: '1s' } },
    { publish: '1.0.0' },
    'settle',
    { advance: '2s' },
    'settle',
  );
  expect((await seen(unbound, line)).out).toContain('No Flux object is bound to it, so none gets its version');
});

it.each([
  ['get-done', 'get'],
  ['status-done', 'status app'],
  ['why-done', 'why app'],
])('an application that runs: %s', async (name, line) => golden(name, await seen(runs!, line)));

describe('a Rollout that can deploy nothing', () => {
  const bound = { bind: { name: BOUND[0], kind: 'Kustomization' } };
  it.each<[name: string, code: number, cause: string, steps: readonly Step[]]>([
    ['no release', 5, 'No releases available', [bound, 'settle']],
    [
      'no ImagePolicy',
      3,
      "ImagePolicy 'app' not found in namespace 'NS'",
      [bound, { delete: ['ImagePolicy', 'test-image-policy'] }, 'settle'],
    ],
  ])('%s: get, why and status begin with the cause, not with what waits for the deployment', async (...row) => {
    const [, code, text, steps] = row;
    const [idle, cause] = [await scenario(...steps), text.replace('NS', NAMESPACE)];
    const notReady = { type: 'Ready', status: 'False', reason: 'Waiting', message: 'waiting for the first deployment' };
    for (const binding of idle.all<any>('FluxBinding'))
      await idle.put({ ...binding, status: { conditions: [notReady] } });
    const [get, why, status] = [await seen(idle, 'get'), await seen(idle, 'why app'), await seen(idle, 'status app')];
    expect(get.out.split('\n')[1]).toContain(cause);
    expect(why.out.split('\n')[1]).toContain(cause);
    expect(status).toMatchObject({ code, out: expect.stringContaining(`nothing is deployed: ${cause}`) });
  });
});

describe('a version that waits for a Gate of another namespace and for a RolloutGate', () => {
  it.each<[name: string, line: string, rules?: Rules, code?: number]>([
    ['get-waits', 'get'],
    ['get-wide', 'get -o wide'],
    ['get-name', 'get -o name'],
    ['why-developer', 'why app -v'],
    ['why-rolloutgate', 'why rolloutgate/qa', everything],
    ['why-kustomization', 'why ks/app'],
    ['history', 'history app'],
    ['status-waits', 'status app', developer, 5],
    ['status-timeout', 'status app --until baked --release 1.1.0 --timeout 2s', developer, 4],
    ['status-unknown', 'status app --until baked --release 1.1.O --timeout 2s', developer, 4],
    ['get-half-blind', 'get app', { hides: ['/fluxbindings', '/rolloutgates', '/gates/'] }],
  ])('%s', async (name, line, rules, code) => golden(name, await seen(waits!, line, rules), code));

  it('why is the same for an admin but for the commands', async () => {
    const [mine, theirs] = await Promise.all([seen(waits!, 'why rollout/app', everything), seen(waits!, 'why app')]);
    expect(mine.out).toBe(theirs.out.replaceAll(/\(not allowed: .*\)/g, '(allowed)'));
  });

  it('get on a terminal of 40 columns', async () =>
    golden('get-waits-40', await seen(waits!, 'get app', developer, { columns: 40 })));

  it('why a Gate', async () => {
    const { out } = await typed(['why', 'gate/platform/freeze'], waits!.stored, { now: later(waits!) });
    expect(out).toContain('closed by sre: INC-7');
  });

  it('get -o json is the page’s Application', async () => {
    const { out } = await seen(waits!, 'get app -o json');
    expect(JSON.parse(out)).toMatchObject({
      namespace: NAMESPACE,
      name: 'app',
      state: 'waits',
      waiting: { version: '1.1.0' },
      runs: { version: { tag: '1.0.0' }, bakeStatus: 'Succeeded' },
    });
  });

  it.each(['get app', 'why app', 'history app', 'history app --diff 1 1', 'calendar', 'audit'])(
    '%s has the same content as JSON and as YAML',
    async (line) => {
      const [json, yaml] = await Promise.all(['json', 'yaml'].map((format) => seen(waits!, `${line} -o ${format}`)));
      expect(parse(yaml!.out)).toEqual(JSON.parse(json!.out));
    },
  );
});

it('names unreadable kinds once for all Rollouts, below them', async () => {
  const two = await waiting();
  await two.play({ upstream: { name: 'other', spec: { releasesImagePolicy: { name: 'other' } } } });
  const { out } = await seen(two, 'get', { hides: ['/fluxbindings', '/rolloutgates'] });
  expect(out).toMatch(/^app [\s\S]*\nother /);
  expect(out.trimEnd().split('\n').slice(-2)).toEqual([
    `○ not read: FluxBindings in ${NAMESPACE}: you aren't allowed to read this kind`,
    `○ not read: RolloutGates in ${NAMESPACE}: you aren't allowed to read this kind`,
  ]);
  expect(out.match(/not read/g)).toHaveLength(2);
});

it('a list of Rollouts that may not be read is an error, in the words of the API server', async () => {
  const { code, out, err } = await seen(waits!, 'get', { hides: ['/rollouts'] });
  expect([code, out, err]).toEqual([1, '', 'not for you.\n']);
});

describe('for programs', () => {
  let atQa: CliScenario;
  beforeAll(async () => {
    atQa = await scenario(
      { publish: '1.0.0' },
      'settle',
      { rolloutGate: { name: 'qa', allowedVersions: ['1.0.0'] } },
      { publish: '1.1.0' },
      'settle',
    );
    const metadata = { namespace: NAMESPACE, name: 'sealed' };
    atQa.seed(objectOf('Gate', { metadata, spec: { default: 'closed' }, status: { requiredByCount: 0 } } as never));
  });

  it.each([
    ['get-json', 'get app -o json'],
    ['why-gate-yaml', 'why gate/sealed -o yaml'],
  ])('%s', async (name, line) => golden(name, await seen(atQa, line)));

  it('why and history have the parts of get', async () => {
    const [get, why, history] = await Promise.all(
      ['get', 'why', 'history'].map(async (word) => JSON.parse((await seen(atQa, `${word} app -o json`)).out)),
    );
    const { headline, causes, next, commands } = get;
    const allowed = commands.map((each: { rights: { resource: string }[] }) => ({
      ...each,
      allowed: each.rights.every(({ resource }) => resource === 'rollouts'),
    }));
    expect(why).toMatchObject({ headline, causes, next, commands: allowed, state: 'held', object: { name: 'app' } });
    expect(history).toEqual(get.history);
  });

  it.each(['bash', 'zsh', 'fish'])('completion of %s', async (shell) =>
    golden(`completion-${shell}`, await call(`completion ${shell}`)),
  );
});

describe('HealthChecks of another namespace', () => {
  it('are steps too; an unreadable one is reported as left out', async () => {
    const team = { matchLabels: { team: 'db' } };
    const labels = { app: 'app' };
    const check = (name: string, annotations?: object) =>
      objectOf('HealthCheck', { metadata: { namespace: 'platform', name, labels, annotations }, spec: {} } as never);
    const other = await scenario(
      { namespace: { name: 'platform', labels: team.matchLabels } },
      { spec: { bakeTime: '1h', healthCheckSelector: { selector: { matchLabels: labels }, namespaceSelector: team } } },
    );
    await other.put(check('db', { 'healthcheck.kuberik.com/watched-from': '*' }));
    await other.put(check('unwilling'));
    await other.play({ publish: '1.0.0' }, 'settle');
    await golden('get-elsewhere', await seen(other, 'get'));
    const { out } = await seen(other, 'get --watch --until waiting');
    expect(out).toContain(`${NAMESPACE}/app: 1.0.0 is being deployed`);
  });
});

describe('a watch', () => {
  /** Collects output, and waits for a text in it. */
  function output() {
    let printed = '';
    let look = () => {};
    const onOutput = (all: string) => {
      printed = all;
      look();
    };
    const until = (text: string) =>
      new Promise<void>((resolve) => {
        look = () => printed.includes(text) && resolve();
        look();
      });
    return { onOutput, until };
  }

  it('prints changes into a pipe, and ends once the version has reached the state', async () => {
    const moving = await waiting();
    const server = await objectServer(moving.stored);
    const { onOutput, until } = output();
    const line = `get app --watch --until baked --release 1.1.0 -n ${NAMESPACE}`;
    const watching = call(line, { onOutput, now: later(moving), env: { KUBECONFIG: server.kubeconfig } });
    await until('1.1.0 waits, 1.0.0 runs');
    await moving.play(
      { gate: { ...FREEZE, default: 'opened' } },
      { rolloutGate: { name: 'qa', allowedVersions: ['1.1.0'] } },
      'settle',
    );
    server.put(...moving.stored);
    await until('1.1.0 is being deployed');
    await applied(moving, ...BOUND);
    await moving.play('settle', { advance: '2s' }, 'settle');
    server.put(...moving.stored);
    const { code, out } = await watching;
    expect(code).toBe(0);
    expect(out).toContain(`${NAMESPACE}/app: RolloutGate qa passed: allows 1.1.0`);
    expect(out).toContain(`${NAMESPACE}/app: 1.1.0 runs`);
  });

  it('on a terminal leaves the cursor as it was after Ctrl-C, with 130', async () => {
    const interrupted = new AbortController();
    const { code, out } = await seen(waits!, 'get app --watch', developer, {
      columns: 100,
      signal: interrupted.signal,
      onOutput: (all) => all.includes('1.1.0') && interrupted.abort(),
    });
    expect(code).toBe(130);
    expect(out.startsWith('\x1b[?25l')).toBe(true);
    expect(out.endsWith('\x1b[?25h')).toBe(true);
  });

  it('status --until returns at once if the state is reached already', async () => {
    const { code, out } = await seen(runs!, 'status app --until baked --release 1.0.0');
    expect([code, out]).toEqual([0, `${NAMESPACE}/app: 1.0.0 runs\n`]);
  });
});

describe('a missing object', () => {
  it.each([
    ['get nothing', `There is no Rollout nothing in namespace ${NAMESPACE}. It has app.\n`],
    ['why kustomization/nothing', `There is no Kustomization nothing in namespace ${NAMESPACE}. It has app.\n`],
    ['history app --diff 1 99', 'There is no deployment 99 in the history: it has 1.\n'],
  ])('%s', async (line, sentence) => {
    const { code, out, err } = await seen(runs!, line);
    expect([code, out, err]).toEqual([1, '', sentence]);
  });

  it('is looked up in other namespaces', async () => {
    const { err } = await typed(['get', 'app', '-n', 'default'], runs!.stored);
    expect(err).toBe(`There is no Rollout app in namespace default. Found in namespace ${NAMESPACE}: add -n.\n`);
  });

  it('a namespace without Rollouts', async () => {
    const { code, err } = await typed(['get', '-n', 'kube-public'], runs!.stored);
    expect([code, err]).toEqual([
      0,
      'There are no Rollouts in namespace kube-public.\nTo list those of all namespaces:\n  kubectl rollouts get -A\nTo adopt a running application under one:\n  kubectl rollouts adopt kustomization/my-app\n',
    ]);
  });

  it('labels that no Rollout has', async () => {
    const { code, err } = await typed(['get', '-A', '-l', 'team=none'], []);
    expect([code, err]).toEqual([0, "There are no Rollouts with the labels 'team=none' in any namespace.\n"]);
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { out } = await typed(['__complete', ...words], waits!.stored);
    return out.trimEnd().split('\n');
  };

  it('offers the names of objects in the namespace that is typed', async () => {
    expect(await complete('get', '-n', NAMESPACE, '')).toEqual(['app', ':4']);
    expect(await complete('why', `--namespace=${NAMESPACE}`, 'rolloutgate/')).toEqual(['rolloutgate/qa', ':4']);
    expect(await complete('get', '-n', NAMESPACE.slice(0, -1))).toEqual([NAMESPACE, ':4']);
  });

  it('offers nothing without a cluster', async () => {
    const { out, code } = await call(['__complete', 'get', ''], { env: { KUBECONFIG: '/nonexistent' } });
    expect([code, out]).toEqual([0, ':4\n']);
  });
});
