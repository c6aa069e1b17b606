/** What must never be stored in a soak, and what is remembered of what was. */
import { beforeEach, expect, it } from 'vitest';
import { type App, planFleet } from '../../../dev/soak/fleet.ts';
import { type Ledger, newLedger } from '../../../dev/soak/ledger.ts';

const FROZEN_MS = 1000;
/** When what was under way is stored too. */
const LATER_MS = FROZEN_MS + 60_000;

let app: App;
let ledger: Ledger;
let revision: number;
beforeEach(() => {
  app = planFleet(1)[0]!;
  ledger = newLedger([app]);
  revision = 0;
  for (const tag of ['1.0.0', '1.1.0']) {
    app.releases.set(tag, { app: app.key, tag, bad: false, free: false, publishedMs: 0 });
  }
});

type Entry = [id: number, tag: string, bakeStatus: string, message?: string];

function rollout(entries: Entry[], ms: number, conditions: object[] = []): void {
  const history = entries.map(([id, tag, bakeStatus, message = 'Automatic deployment']) => ({
    id,
    version: { tag },
    bakeStatus,
    message,
    timestamp: `${id}`,
  }));
  const { namespace, name } = app;
  const object = { metadata: { namespace, name }, status: { revision: ++revision, history, conditions } } as never;
  ledger.take({ key: `/registry/kuberik.com/rollouts/${app.key}`, revision, object }, ms);
}

function kustomization(spec: object | undefined, ms: number): void {
  const object = spec && ({ metadata: {}, spec } as never);
  ledger.take({ key: `/registry/kustomize.toolkit.fluxcd.io/kustomizations/${app.key}`, revision: 1, object }, ms);
}

const first: Entry = [1, '1.0.0', 'Succeeded'];

it.each<[string, (at: number) => void, RegExp | undefined]>([
  ['a deployment', (at) => rollout([[2, '1.1.0', 'Deploying'], first], at), undefined],
  [
    'one of a version that nobody published',
    (at) => rollout([[2, '6.6.6', 'Deploying'], first], at),
    /6.6.6 \(2\) was never published/,
  ],
  [
    'one of a version that was deployed before',
    (at) => rollout([[2, '1.0.0', 'Deploying'], first], at),
    /1.0.0 \(2\) was deployed before/,
  ],
  [
    'a rollback to a version that was deployed before',
    (at) => rollout([[2, '1.0.0', 'Deploying', 'Automatic rollback from 1.1.0'], first], at),
    undefined,
  ],
  ['another version in the place of one', (at) => rollout([[1, '1.1.0', 'Succeeded']], at), /1.1.0 \(1\) was 1.0.0/],
  ['a lost history', (at) => rollout([], at), /entry 1 was rewritten/],
  ['a change of what is applied', (at) => kustomization({ path: './b' }, at), undefined],
  ['the deletion of a Kustomization', (at) => kustomization(undefined, at), /was deleted/],
])('%s', (_, happens, violation) => {
  rollout([first], 0);
  kustomization({ path: './a' }, 0);
  happens(LATER_MS);
  expect(ledger.violations.join()).toMatch(violation ?? /^$/);
});

it.each<[string, (at: number) => void, RegExp]>([
  ['a deployment', (at) => rollout([[2, '1.1.0', 'Deploying'], first], at), /was deployed in a freeze/],
  ['a change of what is applied', (at) => kustomization({ path: './b', suspend: true }, at), /was changed in a freeze/],
  ['a resumption', (at) => kustomization({ path: './a' }, at), /was resumed in a freeze/],
])('%s in a freeze, unless it was under way', (_, happens, violation) => {
  rollout([first], 0);
  kustomization({ path: './a', suspend: true }, 0);
  ledger.frozen.set(app.namespace, FROZEN_MS);
  happens(FROZEN_MS + 1000);
  expect(ledger.violations).toEqual([]);
  rollout([first], 0);
  app.ids.delete(2);
  kustomization({ path: './a', suspend: true }, FROZEN_MS);
  ledger.violations.length = 0;
  happens(LATER_MS);
  expect(ledger.violations.join()).toMatch(violation);
});

it('what somebody let past a freeze may change', () => {
  kustomization({ path: './a', suspend: true }, 0);
  ledger.frozen.set(app.namespace, FROZEN_MS);
  ledger.bypassed.add(app.key);
  kustomization({ path: './b' }, LATER_MS);
  expect(ledger.violations).toEqual([]);
});

it('remembers since when and until when a version was in each state, and how it ended', () => {
  rollout([[1, '1.0.0', 'Deploying']], 10);
  rollout([[1, '1.0.0', 'Failed']], 20);
  rollout([[1, '1.0.0', 'Failed']], 25);
  rollout(
    [
      [2, '1.1.0', 'Deploying'],
      [1, '1.0.0', 'Failed'],
    ],
    30,
  );
  expect(app.spans).toEqual([
    { state: 'Deploying', tag: '1.0.0', from: 10, to: 20 },
    { state: 'Failed', tag: '1.0.0', from: 20, to: 30 },
    { state: 'Deploying', tag: '1.1.0', from: 30 },
  ]);
  expect(app.releases.get('1.0.0')).toMatchObject({ deployedMs: 10, outcome: 'Failed' });
  expect(app.releases.get('1.1.0')?.outcome).toBeUndefined();
});

it('remembers while a Rollout cannot go on', () => {
  const ready = (status: string) => [{ type: 'Ready', status, reason: 'RolloutFailed' }];
  rollout([], 10, ready('False'));
  rollout([], 20, ready('False'));
  rollout([], 30, ready('True'));
  expect(app.notReady).toEqual([{ from: 10, to: 30 }]);
});
