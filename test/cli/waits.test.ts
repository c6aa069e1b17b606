/** How --wait ends: output and exit code. A server dry run doesn't wait. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/kubernetes.ts';
import { objectOf } from '../support/objects.ts';
import { NOW, type ObjectServer, type Stored, typed } from './objectServer.ts';
import { type CliScenario, golden, NAMESPACE, type Step, scenario } from './scenario.ts';

/** 1.0.0 runs, and 1.1.0 waits for RolloutGate qa. */
const atQa = (spec: object = {}) =>
  scenario(
    { publish: '1.0.0' },
    'settle',
    { spec },
    { rolloutGate: { name: 'qa', allowedVersions: ['1.0.0'] } },
    { publish: '1.1.0' },
    'settle',
  );

const closed = objectOf('Gate', {
  metadata: { namespace: NAMESPACE, name: 'sealed' },
  spec: { default: 'closed' },
} as never);

const words = (line: string) => [...line.split(' '), '-n', NAMESPACE];

describe('a server dry run', () => {
  it.each<[name: string, line: string]>([
    ['dry-deploy', 'deploy app 1.1.0'],
    ['dry-approve', 'approve app 1.1.0'],
    ['dry-freeze', 'freeze incident --kinds Rollout'],
  ])('%s', async (name, line) => {
    const { stored } = await atQa();
    const called = await typed(words(`${line} --dry-run=server`), stored);
    expect(called.writes).toMatchObject([{ isDryRun: true }]);
    await golden(name, called);
  });

  it('has the object as the API server would store it', async () => {
    const { stored } = await atQa();
    const { out } = await typed(words('close rolloutgate/qa --dry-run=server -o json'), stored);
    expect(JSON.parse(out)).toMatchObject({ kind: 'RolloutGate', metadata: { name: 'qa' }, spec: { passing: false } });
  });

  it('reports missing rights in the API server’s words', async () => {
    const refuses = () => 'gates "sealed" is forbidden: User "bob" cannot patch';
    const called = await typed(words('open sealed --dry-run=server --yes'), [closed], {}, { refuses });
    expect(called).toMatchObject({ code: 1, out: '', err: `${refuses()}.\n`, writes: [] });
  });
});

describe('of a Rollout', () => {
  /** The command while the scenario goes on once its write is stored. On standard error is what was seen on the way. */
  async function waited(line: string, of: CliScenario, ...goesOn: readonly Step[]) {
    const react = async (server: ObjectServer) => {
      await of.play(...goesOn);
      server.put(...of.stored);
    };
    const { code, out } = await typed(words(line), of.stored, { now: () => of.now }, { react });
    return [code, out];
  }

  it('ends with 4 if the state isn’t reached in time', async () => {
    const allowed = { rolloutGate: { name: 'qa', allowedVersions: ['1.0.0', '1.1.0'] } };
    const line = 'approve app 1.1.0 --wait --timeout 2s';
    expect(await waited(line, await atQa({ bakeTime: '1h' }), allowed, 'settle')).toEqual([
      4,
      `Approved 1.1.0 at RolloutGate ${NAMESPACE}/qa.\nTimed out waiting for: 1.1.0 baked\n${NAMESPACE}/app: 1.1.0 is baking: Version 1.1.0 is baking until 13:00: no Flux object is bound, and no HealthCheck is watched\n`,
    ]);
  });

  it('ends with 3 where the deployment fails', async () => {
    const deployed = { annotate: { 'force-deploy': '1.1.0' } };
    const failed = { head: { bakeStatus: 'Failed' } };
    const line = 'deploy app 1.1.0 --wait --yes';
    expect(await waited(line, await atQa({ bakeTime: '1h' }), deployed, 'settle', failed, 'settle')).toEqual([
      3,
      `Requested that Rollout ${NAMESPACE}/app deploy 1.1.0.\n${NAMESPACE}/app: 1.1.0 has failed: 1.0.0 is the last version that succeeded (deployment 1)\n`,
    ]);
  });

  it.each<[line: string, code: number]>([
    ['status app --until baked', 3],
    ['status app --until baked --release 1.1.0', 3],
    ['status app --until baked --release 1.0.0', 0],
  ])('of which the newest version was rolled back: %s ends with %i', async (line, code) => {
    const rolledBack = await scenario(
      { past: { history: ['1.1.0 Failed broken', '1.0.0 Succeeded'] } },
      { spec: { onFailure: 'Rollback' } },
      'settle',
    );
    const called = await typed(words(`${line} --timeout 2s`), rolledBack.stored, { now: () => rolledBack.now });
    expect(called).toMatchObject({ code, out: `${NAMESPACE}/app: 1.0.0 runs, 1.1.0 was rolled back\n` });
    const { out } = await typed(words('get app'), rolledBack.stored, { now: () => rolledBack.now });
    expect(out.split('\n')[0]).toContain('○ 1.1.0 was rolled back');
  });

  it('ends with 0 once it has baked', async () => {
    const failing = await scenario(
      { spec: { bakeTime: '1s' } },
      { publish: '1.2.0' },
      'settle',
      { head: { bakeStatus: 'Failed' } },
      { sync: 3 },
    );
    const retried: Step[] = [{ annotate: { retry: '1.2.0' } }, 'settle', { advance: '2s' }, 'settle'];
    expect(await waited('retry app --wait', failing, ...retried)).toEqual([
      0,
      `Requested that Rollout ${NAMESPACE}/app retry 1.2.0.\n${NAMESPACE}/app: 1.2.0 runs\n`,
    ]);
  });
});

// For gated objects: what the webhook and the hooks write after the command.

const accepted = (action: 'open' | 'close', reason?: string) => ({
  'gate.fluxcd.io/accepted-request': JSON.stringify({
    current: { action, at: new Date(NOW).toISOString(), by: 'sre', reason },
  }),
});
const kustomization = (name: string, suspend: boolean, state: string, status?: object) =>
  objectOf('Kustomization', {
    metadata: { namespace: NAMESPACE, name, generation: 2, annotations: { 'gate.fluxcd.io/state': state } },
    spec: { suspend },
    status,
  } as never);

describe('of a freeze', () => {
  const key = `${NAMESPACE}/incident`;
  const rollout = (isHeld: boolean) =>
    objectOf('Rollout', {
      metadata: { namespace: NAMESPACE, name: 'app' },
      spec: { releasesImagePolicy: { name: 'app' } },
      status: { gates: isHeld ? [{ kind: 'Gate', name: key, passing: false }] : [] },
    } as never);
  const objects = (isHeld: boolean): Stored[] => [
    rollout(isHeld) as Stored,
    kustomization('app', isHeld, isHeld ? `closed: ${key}` : 'open') as Stored,
  ];
  const requiredBy = ['Kustomization', 'Rollout'].map((kind) => ({ kind, namespace: NAMESPACE, name: 'app' }));
  const selects = { kinds: ['Kustomization', 'HelmRelease', 'Rollout'] };
  const incident = (annotations: object): Stored =>
    objectOf('Gate', {
      metadata: { namespace: NAMESPACE, name: 'incident', annotations },
      spec: { default: 'opened', selects },
      status: { requiredByCount: 2, requiredBy },
    } as never) as Stored;

  /** The lines of standard error are sorted: objects reach the state in any order. */
  const sorted = ({ err, ...called }: Awaited<ReturnType<typeof typed>>) => ({
    ...called,
    err: `${err.trimEnd().split('\n').sort().join('\n')}\n`,
  });

  it('waits until every object is held', async () => {
    const react = (server: ObjectServer) => server.put(incident(accepted('close', 'INC-7')), ...objects(true));
    const line = 'freeze incident --yes --wait --reason INC-7';
    await golden('wait-freeze', sorted(await typed(words(line), objects(false), {}, { react })));
  });

  it('ends once every object is resumed', async () => {
    const react = (server: ObjectServer) => server.put(incident(accepted('open')), ...objects(false));
    const before = [incident(accepted('close', 'INC-7')), ...objects(true)];
    await golden('wait-open', sorted(await typed(words('open incident --wait --yes'), before, {}, { react })));
  });
});

describe('of one object behind a closed Gate', () => {
  /** Standard error has the progress, whose number of lines varies. */
  const bypassed = async (more: string, react?: (server: ObjectServer) => void) => {
    const line = `bypass kustomization/web --yes --wait --reason INC-7 ${more}`.trim();
    const called = await typed(words(line), [held, closed as Stored], { now: Date.now }, { ...(react && { react }) });
    return { ...called, err: '' };
  };
  const held = kustomization('web', true, `closed: ${NAMESPACE}/sealed`, { observedGeneration: 1 }) as KubeObject;

  it('reports a bypass without a reconciliation in time', async () => {
    await golden('wait-bypass-timeout', await bypassed('--timeout 10ms'), 4);
  });

  it('has been reconciled when the waiting ends', async () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Done', message: '' }];
    const resumed = kustomization('web', false, 'bypassed', { observedGeneration: 2, conditions }) as Stored;
    await golden('wait-bypass', await bypassed('', (server) => server.put(resumed)));
  });
});
