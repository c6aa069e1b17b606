/** Answers of commands that write nothing, or don't wait for their write: text, exit code, and no write. */
import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { typed } from './objectServer.ts';

const rollout = (name: string, spec: object = {}, status: object = {}) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name, resourceVersion: '7' },
    spec,
    status: {
      history: ['1.1.0', '1.0.0'].map((tag, i) => ({
        id: 2 - i,
        version: { tag },
        timestamp: '',
        bakeStatus: 'Succeeded',
      })),
      availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }, { tag: '1.2.0' }],
      ...status,
    },
  } as never);
const rolloutGate = (name: string, spec: object, of = 'web') =>
  objectOf('RolloutGate', {
    metadata: { namespace: 'shop', name },
    spec: { rolloutRef: { name: of }, ...spec },
  } as never);
const gate = (name: string, ...holds: string[]) => {
  const requiredBy = holds.map((each) => ({ kind: 'Rollout', namespace: 'shop', name: each }));
  const status = { requiredByCount: holds.length, requiredBy };
  return objectOf('Gate', { metadata: { namespace: 'shop', name }, spec: { default: 'closed' }, status } as never);
};

const WEB = rollout('web', {}, { pendingVersion: '1.2.0' });
const QA = rolloutGate('qa', { passing: true, allowedVersions: [] });
const OPS = rolloutGate('ops', { passing: false });
const NIGHTS = objectOf('RolloutGate', {
  metadata: {
    namespace: 'shop',
    name: 'nights-1',
    labels: { 'gate.kuberik.com/schedule-kind': 'RolloutSchedule', 'gate.kuberik.com/schedule-name': 'nights' },
  },
  spec: { rolloutRef: { name: 'web' }, passing: false },
} as never);
const YEAR_END = gate('year-end');
const behind = ['eu', 'us'].map((name) =>
  rollout(name, { gates: [{ name: 'year-end' }] }, { pendingVersion: '1.2.0', namedGates: [] }),
);

describe('nothing is written, and the answer names the action to take', () => {
  it.each<[line: string, objects: object[], code: number, answer: string]>([
    [
      'approve web 1.2.0',
      [WEB, OPS, QA],
      1,
      `More than one Gate or RolloutGate blocks 1.2.0. Choose one of 2:
  kubectl rollouts approve rolloutgate/ops 1.2.0 -n shop   # RolloutGate ops allows 1.2.0
  kubectl rollouts approve rolloutgate/qa 1.2.0 -n shop   # RolloutGate qa allows 1.2.0
`,
    ],
    [
      'approve web 1.2.0',
      [WEB, rolloutGate('qa', { passing: true })],
      0,
      'Rollout shop/web does not wait for an approval of 1.2.0: its RolloutGates allow it already.\n',
    ],
    [
      'approve web 1.1.0',
      [WEB, rolloutGate('qa', { passing: true })],
      0,
      `Note: 1.1.0 is deployed already.
Rollout shop/web does not wait for an approval of 1.1.0: its RolloutGates allow it already.
`,
    ],
    [
      'reject web 1.1.0',
      [WEB, rolloutGate('qa', { rejectedVersions: ['1.1.0'] })],
      0,
      `Note: 1.1.0 is deployed, and stays. The command rollback goes back to the version before.
RolloutGate shop/qa rejects 1.1.0 already.
`,
    ],
    [
      'reject web 1.3.0',
      [WEB, OPS, QA],
      1,
      `web has more than one RolloutGate. Choose one of 2:
  kubectl rollouts reject rolloutgate/ops 1.3.0 -n shop   # RolloutGate ops
  kubectl rollouts reject rolloutgate/qa 1.3.0 -n shop   # RolloutGate qa
`,
    ],
    [
      'deploy web 9.9.9',
      [WEB],
      2,
      `Rollout shop/web has no release 9.9.9 (it has 1.2.0, 1.1.0, 1.0.0): the request would wait until it exists.
Not a terminal: add --yes to confirm.
`,
    ],
    [
      'approve web 1.2.0',
      [WEB, NIGHTS],
      1,
      `RolloutSchedule nights blocks 1.2.0, and opens by its calendar. To bypass every RolloutGate:
  kubectl rollouts bypass web 1.2.0 --rollout-gates -n shop
`,
    ],
    ['bypass web --rollout-gates', [WEB], 2, '--rollout-gates needs a version.\n'],
    [
      'freeze rollout/web',
      [WEB],
      2,
      `A freeze is a Gate, and 'web' is a Rollout.
To block the versions of one Rollout:
  kubectl rollouts close rolloutgate/web -n shop --rollout web
`,
    ],
    ['retry web', [WEB], 1, 'Rollout shop/web: 1.1.0 has succeeded, so there is nothing to retry.\n'],
    ['bypass web 1.2.0', [WEB], 2, 'A bypass needs a reason, which is recorded: --reason "<why>".\n'],
    [
      'open nothing',
      [YEAR_END, QA],
      1,
      'There is no Gate or RolloutGate nothing in namespace shop. It has year-end, qa.\n',
    ],
    ['open', [YEAR_END], 1, 'No user has closed a Gate in namespace shop: there is nothing to open.\n'],
  ])('%s', async (line, objects, code, answer) => {
    const called = await typed([...line.split(' '), '-n', 'shop'], objects as never);
    expect(called).toMatchObject({ code, out: '', err: answer, writes: [] });
  });

  it('a bypass that bypasses no closed Gate', async () => {
    const line = ['bypass', 'web', '1.2.0', '--reason', 'INC-42', '-n', 'shop'];
    const { writes, ...called } = await typed(line, [WEB]);
    expect(called).toMatchObject({
      code: 1,
      out: '',
      err: `Nothing was changed: 1.2.0 would bypass no closed Gate of Rollout shop/web.
To deploy it:
  kubectl rollouts deploy web 1.2.0 -n shop
`,
    });
    expect(writes.filter(({ isDryRun }) => !isDryRun)).toEqual([]);
  });

  it('a Gate and a RolloutGate of one namespace are found in one', async () => {
    const twin = { ...(QA as any), metadata: { ...(QA as any).metadata, name: 'year-end' } };
    const { err } = await typed(['open', 'year-end', '-n', 'other'], [YEAR_END, twin] as never);
    expect(err).toContain('Found in namespace shop: add -n.');
  });
});

describe('--wait has nothing to wait for', () => {
  it.each<[line: string, objects: object[], answer: string]>([
    [
      'approve gate/year-end 1.2.0',
      [gate('year-end', 'eu', 'us'), ...behind],
      'Not waiting: 1.2.0 is waiting in more than one Rollout (shop/eu, shop/us): name one of them.\n',
    ],
    ['approve gate/year-end 9.0.0', [YEAR_END], 'Not waiting: no Rollout is waiting there for 9.0.0.\n'],
    [
      'open year-end --at 2037-01-04T00:00:00Z',
      [YEAR_END],
      'It takes effect later: there is nothing to wait for yet.\n',
    ],
    [
      'close rolloutgate/stray',
      [rolloutGate('stray', { passing: true }, 'nobody')],
      'There is no Rollout shop/nobody: the RolloutGate blocks nothing.\n',
    ],
  ])('%s', async (line, objects, answer) => {
    const called = await typed([...line.split(' '), '--wait', '--yes', '-n', 'shop'], objects as never);
    expect(called).toMatchObject({ code: 0, writes: [{ method: 'PATCH' }] });
    expect(called.err).toContain(answer);
  });
});

it('-o name prints names that other commands take, with -A too', async () => {
  const { out } = await typed(['get', '-A', '-o', 'name'], [WEB] as never);
  expect(out).toBe('rollout.kuberik.com/shop/web\n');
  const { code } = await typed(['history', out.trim(), '-n', 'other'], [WEB] as never);
  expect(code).toBe(0);
});

it('history names the deployTimeout before a HealthCheck that was only Pending', async () => {
  const version = { tag: '1.0.0' };
  const failed = {
    bakeStatus: 'Failed',
    bakeStatusMessage: 'Deploy timeout reached.',
    failedHealthChecks: [{ namespace: 'shop', name: 'web', message: 'Ready: 0/1' }],
  };
  const history = [{ id: 1, version, timestamp: '', ...failed }];
  const { out } = await typed(['history', 'web', '-n', 'shop'], [rollout('web', {}, { history })] as never);
  expect(out).toContain('Deploy timeout reached; HealthCheck shop/web: Ready: 0/1');
});

it('history has the opening of a Gate at the first deployment after it', async () => {
  const opened = [{ gate: 'shop/incident', at: '2026-11-20T08:00:00Z', by: 'sre', reason: 'over' }];
  const history = [3, 2, 1].map((id) => ({ id, version: { tag: `1.${id}.0` }, timestamp: '', approvals: opened }));
  const { out } = await typed(['history', 'web', '-n', 'shop'], [rollout('web', {}, { history })] as never);
  const lines = out.trimEnd().split('\n').slice(1);
  expect(lines.map((line) => line.includes('shop/incident opened by sre: over'))).toEqual([false, false, true]);
});

it('-o name prints the name alone', async () => {
  expect(await typed(['pin', 'web', '1.1.0', '-n', 'shop', '-o', 'name'], [WEB])).toMatchObject({
    code: 0,
    out: 'rollout.kuberik.com/web\n',
    err: '',
  });
});

it.each(['unpin web', 'approve web 1.1.0'])('-o prints the object also if %s has nothing to write', async (line) => {
  const seen = (format: string) => typed([...line.split(' '), '-n', 'shop', '-o', format], [WEB]);
  const [name, json] = [await seen('name'), await seen('json')];
  expect(name).toMatchObject({ code: 0, out: 'rollout.kuberik.com/web\n', writes: [] });
  expect(JSON.parse(json.out)).toMatchObject({ kind: 'Rollout', metadata: { name: 'web' } });
  expect(json.err).toContain('Rollout shop/web');
});

it('-o name has the singular of a kind', async () => {
  const metadata = { namespace: 'shop', name: 'web' };
  const held = objectOf('OCIRepository', { metadata, spec: { suspend: true } } as never);
  const line = ['bypass', 'ocirepository/web', '--reason', 'INC-42', '--yes', '-n', 'shop', '-o', 'name'];
  expect((await typed(line, [held] as never)).out).toBe('ocirepository.source.toolkit.fluxcd.io/web\n');
});

it('open without a name opens the one Gate that a user has closed', async () => {
  const closed = objectOf('Gate', {
    metadata: {
      namespace: 'shop',
      name: 'incident',
      annotations: { 'close.gate.fluxcd.io/requestedAt': '2026-11-22T07:00:00Z' },
    },
    spec: { default: 'opened' },
  } as never);
  const called = await typed(['open', '--yes', '-n', 'shop'], [closed, YEAR_END]);
  expect(called).toMatchObject({ code: 0, out: 'Opened Gate shop/incident.\n', writes: [{ method: 'PATCH' }] });
});
