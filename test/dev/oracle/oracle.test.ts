/** The oracle finds the one fault of each of these histories, and nothing in correct ones that look like them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../dev/chaos/audit.ts';
import { Oracle } from '../../../dev/oracle/oracle.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder('oracle-');

const APP = { apiGroup: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations', namespace: 'apps', name: 'app' };
const FREEZE = { apiGroup: 'gating.toolkit.fluxcd.io', resource: 'gates', namespace: 'apps', name: 'freeze' };
const ROLLOUT = { apiGroup: 'kuberik.com', resource: 'rollouts', namespace: 'apps', name: 'app' };
const HEALTH = { apiGroup: 'kuberik.com', resource: 'healthchecks', namespace: 'apps', name: 'app' };
const BEGIN = Date.parse('2026-11-21T12:00:00Z');

type Ref = typeof APP;
/** A step: the receipt of a request, its answer, or a stored version. Each takes a second. */
type Step =
  | { received: string; of: Ref }
  | { answered: string; of: Ref; revision?: number; by?: string; verb?: string; bypass?: string }
  | { stored: Ref; revision: number; object?: object };

const keyOf = ({ apiGroup, resource, namespace, name }: Ref) =>
  `/registry/${apiGroup}/${resource}/${namespace}/${name}`;

async function oracle(steps: Step[]) {
  const lines = steps.flatMap((step, i) => {
    const at = new Date(BEGIN + i * 1000).toISOString();
    const times = { requestReceivedTimestamp: at, stageTimestamp: at };
    if ('stored' in step) return [];
    const id = 'received' in step ? step.received : step.answered;
    const event = { auditID: id, verb: 'patch', requestURI: '/', user: { username: 'developer' }, objectRef: step.of };
    if ('received' in step) return [{ ...event, ...times, stage: 'RequestReceived' }];
    return [
      {
        ...event,
        ...times,
        stage: 'ResponseComplete',
        verb: step.verb ?? 'patch',
        user: { username: step.by ?? 'developer' },
        responseStatus: { code: 200 },
        ...(step.revision && { responseObject: { metadata: { resourceVersion: String(step.revision) } } }),
        ...(step.bypass && { annotations: { 'flux.admission.kuberik.com/bypass': step.bypass } }),
      },
    ];
  });
  const file = join(folder, 'audit.log');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const found = new Oracle(await readAudit(file), (ms) => ms - 15_000);
  for (const [i, step] of steps.entries()) {
    if (!('stored' in step)) continue;
    const { namespace, name } = step.stored;
    const object = step.object && {
      ...(step.stored === APP && { kind: 'Kustomization' }),
      ...step.object,
      metadata: { namespace, name, uid: `uid-${name}`, ...(step.object as any).metadata },
    };
    found.take({
      key: keyOf(step.stored),
      revision: step.revision,
      seenMs: BEGIN + i * 1000,
      object: object as any,
    });
  }
  return found.findings;
}

const requests = (times: Record<string, string>) => ({
  annotations: Object.fromEntries(
    Object.entries(times).map(([action, at]) => [`${action}.gate.fluxcd.io/requestedAt`, `2026-11-21T${at}Z`]),
  ),
});
const opened = { spec: { default: 'opened' } };
const closed = { ...opened, metadata: requests({ close: '12:00:00' }) };
const app = (spec: object, annotations: object = { 'gate.fluxcd.io/gates': 'freeze' }) => ({
  spec,
  metadata: { annotations },
});

const write = (id: string, of: Ref, revision: number, object?: object, more: object = {}): Step[] => [
  { received: id, of },
  { stored: of, revision, object },
  { answered: id, of, revision, ...more },
];
const before = [...write('g1', FREEZE, 1, opened), ...write('a1', APP, 2, app({ path: './a', suspend: true }))];
const closure = write('g2', FREEZE, 3, closed);

describe('while a Gate is closed, the oracle reports', () => {
  it.each<[string, Step[], string]>([
    ['a change', write('a2', APP, 4, app({ path: './b', suspend: true })), 'changes from {"path":"./a"}'],
    ['a resume', write('a2', APP, 4, app({ path: './a' })), 'is resumed'],
    [
      'a bypass by a user without that verb',
      write('a2', APP, 4, app({ path: './a' }), { by: 'developer', bypass: 'apps/freeze' }),
      'is resumed',
    ],
    ['a deletion', write('a2', APP, 4, undefined, { verb: 'delete', revision: undefined }), 'is deleted'],
    ['a removed Gate', write('a2', APP, 4, app({ path: './a', suspend: true }, {})), 'no longer requires the Gate'],
    [
      'a change that the API server did not answer',
      [
        { received: 'a2', of: APP },
        { stored: APP, revision: 4, object: app({ path: './b' }) },
      ],
      'the API server never answered',
    ],
  ])('%s', async (_, steps, text) => {
    const { violations } = await oracle([...before, ...closure, ...steps]);
    expect(violations).toEqual([expect.stringContaining(text)]);
    expect(violations[0]).toContain('while Gate apps/freeze is closed since revision 3');
  });

  const labels = { 'gate.fluxcd.io/selects': '' };
  const selecting = { ...closed, metadata: { ...closed.metadata, labels }, spec: { ...closed.spec, selects: {} } };

  it.each([
    ['names the Gate', closed, app({ path: './a' })],
    ['is selected by it', selecting, app({ path: './a' }, {})],
  ])('an object that %s and is created without spec.suspend', async (_, gate, object) => {
    const steps = [...write('g1', FREEZE, 1, opened), ...write('g2', FREEZE, 3, gate), ...write('a1', APP, 4, object)];
    expect((await oracle(steps)).violations).toEqual([expect.stringContaining('is created without spec.suspend')]);
  });

  it('a change after a closed Gate has begun to select the object, and none once it has ended', async () => {
    const unmarked = (path: string) => app({ path, suspend: true }, {});
    const [one, other] = [write('a1', APP, 1, unmarked('./a')), write('g1', FREEZE, 2, closed)];
    const begun = write('g2', FREEZE, 3, selecting);
    const steps = [...one, ...other, ...begun, ...write('a2', APP, 4, unmarked('./b'))];
    expect((await oracle(steps)).violations).toEqual([expect.stringContaining('while Gate apps/freeze is closed')]);
    const ended = [
      ...one,
      ...other,
      ...begun,
      ...write('g3', FREEZE, 4, closed),
      ...write('a2', APP, 5, unmarked('./b')),
    ];
    expect((await oracle(ended)).violations).toEqual([]);
  });

  it('a deployment while a closed Gate holds a bound object', async () => {
    const bound = { 'rollout.kuberik.com/substitute.TAG.from': 'app', 'gate.fluxcd.io/gates': 'freeze' };
    const head = { id: 1, timestamp: '2026-11-21T12:00:20Z', version: { tag: '1.0.0' }, message: 'Manual deployment' };
    const steps = [
      ...write('a1', APP, 1, app({ path: './a' }, bound)),
      ...write('g1', FREEZE, 2, opened),
      ...write('g2', FREEZE, 3, closed),
      ...write('r1', ROLLOUT, 4, { spec: {} }),
      ...write('r2', ROLLOUT, 5, { spec: {}, status: { revision: 1, history: [head] } }),
    ];
    expect((await oracle(steps)).violations).toEqual([
      expect.stringContaining('deploys 1.0.0 (1) while gating.toolkit.fluxcd.io/gates/apps/freeze is closed'),
    ]);
  });

  it('a change after the end of a window', async () => {
    const approval = { spec: { default: 'closed', window: '2s' }, metadata: requests({ open: '12:00:00' }) };
    const late = write('a2', APP, 4, app({ path: './b', suspend: true }));
    const steps = [...write('g1', FREEZE, 1, approval), ...before.slice(3), ...late];
    expect((await oracle(steps)).violations).toEqual([
      expect.stringContaining('closed since 2026-11-21T12:00:02.000Z'),
    ]);
  });
});

describe('the oracle allows', () => {
  it.each<[string, Step[]]>([
    ['a change before the closure', [...write('a2', APP, 3, app({ path: './b' })), ...write('g2', FREEZE, 4, closed)]],
    ['a suspension', [...closure, ...write('a2', APP, 4, app({ path: './a', suspend: true }))]],
    [
      'a change with a bypass in the audit log',
      [...closure, ...write('a2', APP, 4, app({ path: './b' }), { by: 'sre', bypass: 'apps/freeze' })],
    ],
    [
      'a change that was received before the answer to the closure',
      [
        { received: 'a2', of: APP },
        { received: 'g2', of: FREEZE },
        { stored: FREEZE, revision: 3, object: closed },
        { answered: 'g2', of: FREEZE, revision: 3 },
        { stored: APP, revision: 4, object: app({ path: './b', suspend: true }) },
        { answered: 'a2', of: APP, revision: 4 },
      ],
    ],
  ])('%s', async (_, steps) => {
    expect((await oracle([...before, ...steps])).violations).toEqual([]);
  });
});

describe('after an opening, a resumption by the hooks before an apply', () => {
  const child = (state: string, suspend: boolean, ...managedFields: object[]) => ({
    spec: { path: './a', suspend },
    metadata: {
      labels: { 'kustomize.toolkit.fluxcd.io/name': 'parent' },
      annotations: { 'gate.fluxcd.io/state': state, 'gate.fluxcd.io/suspended': 'false' },
      managedFields,
    },
  });
  const fromGit = { manager: 'kustomize-controller', operation: 'Apply' };
  const by = { by: 'system:serviceaccount:metacontroller:metacontroller' };
  const sync = (...ready: string[]) =>
    ready.map((status, i): Step => {
      const object = { kind: 'Kustomization', status: { conditions: [{ type: 'Ready', status }] } };
      return { stored: { ...APP, name: 'parent' }, revision: 10 + i, object };
    });
  it.each<[title: string, managedFields: object[], before: Step[], after: Step[], texts: string[]]>([
    ['is reported of an object that Git has applied before', [fromGit], [], [], ['before Git has applied it']],
    ['is allowed of an object that only has the labels of an applier', [], [], [], []],
    ['is allowed after a sync of the applier, which may change nothing', [fromGit], [], sync('Unknown', 'True'), []],
    [
      'is reported after a sync that has failed, or began before the opening',
      [fromGit],
      sync('True', 'Unknown'),
      sync('True', 'Unknown', 'False'),
      ['before Git has applied it'],
    ],
  ])('%s', async (_, managedFields, before, after, texts) => {
    const steps = [
      ...before,
      ...write('a1', APP, 1, child('closed: apps/freeze', true, ...managedFields)),
      ...write('a2', APP, 2, child('opening: 2026-11-21T12:00:04.000Z', true, ...managedFields), by),
      ...after,
      ...write('a3', APP, 3, child('open', false, ...managedFields), by),
    ];
    expect((await oracle(steps)).violations).toEqual(texts.map((text) => expect.stringContaining(text)));
  });
});

describe('of a Rollout, the oracle reports', () => {
  const entry = (id: number, tag: string, more = {}) => ({
    id,
    version: { tag },
    bakeStatus: 'Succeeded',
    timestamp: '2026-11-21T12:00:00Z',
    message: '',
    ...more,
  });
  const rollout = (revision: number, ...history: object[]) => ({
    spec: { gates: [{ name: 'freeze' }] },
    status: { revision, history },
  });
  const first = write('r1', ROLLOUT, 10, rollout(1, entry(1, '1.0.0')));

  it.each<[string, Step[], string]>([
    [
      'a lost deployment',
      write('r2', ROLLOUT, 11, rollout(2, entry(3, '1.2.0'), entry(1, '1.0.0'))),
      'new entries at once',
    ],
    ['an entry with another version', write('r2', ROLLOUT, 11, rollout(2, entry(1, '9.9.9'))), 'was 1.0.0, is 9.9.9'],
    [
      'a request that was done twice',
      [
        ...write('r2', ROLLOUT, 11, rollout(2, entry(2, '1.1.0', { message: 'request 7' }), entry(1, '1.0.0'))),
        ...write(
          'r3',
          ROLLOUT,
          12,
          rollout(
            3,
            entry(3, '1.1.0', { message: 'request 7' }),
            entry(2, '1.1.0', { message: 'request 7' }),
            entry(1, '1.0.0'),
          ),
        ),
      ],
      "'request 7' created deployments 2 and 3",
    ],
    [
      'an outcome that is decided again',
      write('r2', ROLLOUT, 11, rollout(2, entry(1, '1.0.0', { bakeEndTime: '2026-11-21T12:00:09Z' }))),
      '1 went from Succeeded to Succeeded at 2026-11-21T12:00:09Z',
    ],
    [
      'another outcome of a deployment that the next one replaces',
      write('r2', ROLLOUT, 11, rollout(2, entry(2, '1.1.0'), entry(1, '1.0.0', { bakeStatus: 'Cancelled' }))),
      '1 went from Succeeded to Cancelled',
    ],
    [
      'an applied version that no object applied',
      [
        ...write('a1', APP, 5, app({}, { 'rollout.kuberik.com/substitute.V.from': 'app' })),
        ...write('r2', ROLLOUT, 11, rollout(2, entry(1, '1.0.0', { appliedTime: '2026-11-21T13:00:00Z' }))),
      ],
      'deployment 1 (1.0.0) counts as applied, but Kustomization app never applied it',
    ],
    [
      'a success without health',
      [
        ...write('h1', HEALTH, 11, { metadata: { labels: {} }, status: { status: 'Pending' } }),
        ...write('r2', ROLLOUT, 12, {
          spec: { healthCheckSelector: { matchLabels: {} } },
          status: {
            revision: 2,
            history: [entry(2, '1.1.0', { bakeEndTime: '2026-11-21T13:00:00Z' }), entry(1, '1.0.0')],
          },
        }),
      ],
      'succeeded, but HealthCheck apps/app reported no new health',
    ],
  ])('%s', async (_, steps, text) => {
    const { violations } = await oracle([...write('g1', FREEZE, 1, opened), ...first, ...steps]);
    expect(violations).toContainEqual(expect.stringContaining(text));
  });

  it('an outcome that changes, unless by a retry', async () => {
    const failed = entry(1, '1.0.0', { bakeStatus: 'Failed', bakeEndTime: '2026-11-21T12:00:00Z' });
    const again = entry(1, '1.0.0', { bakeStatus: 'Deploying', lastRetryTimestamp: '2026-11-21T12:00:09Z' });
    const found = async (next: object) => {
      const steps = [...write('r1', ROLLOUT, 10, rollout(1, failed)), ...write('r2', ROLLOUT, 11, rollout(2, next))];
      return (await oracle(steps)).violations;
    };
    expect(await found(again)).toEqual([]);
    expect(await found({ ...again, lastRetryTimestamp: undefined })).toEqual([
      expect.stringContaining('1 went from Failed at 2026-11-21T12:00:00Z to Deploying'),
    ]);
  });

  it('a deployment whose timestamp is after the closure of a Gate, and none from before', async () => {
    const deploy = (timestamp: string) =>
      write('r2', ROLLOUT, 12, rollout(2, entry(2, '1.1.0', { timestamp }), entry(1, '1.0.0')));
    const steps = [...write('g1', FREEZE, 1, opened), ...first, ...write('g2', FREEZE, 11, closed)];
    expect((await oracle([...steps, ...deploy('2026-11-21T12:00:30Z')])).violations).toEqual([
      expect.stringContaining(
        'deploys 1.1.0 (2) while gating.toolkit.fluxcd.io/gates/apps/freeze is closed since revision 11',
      ),
    ]);
    expect((await oracle([...steps, ...deploy('2026-11-21T12:00:01Z')])).violations).toEqual([]);
  });

  it('a deployment without the approvals or the slot it needs', async () => {
    const asks = { ...opened, spec: { default: 'closed', approvals: { required: 2 } } };
    const fleet = { apiGroup: 'kuberik.com', resource: 'rolloutbudgets', namespace: 'apps', name: 'fleet' };
    const budget = write('b1', fleet, 9, { metadata: { uid: 'b' }, spec: { selector: {}, maxConcurrent: 1 } });
    const head = entry(2, '1.1.0', { message: 'Automatic deployment', timestamp: '2026-11-21T12:00:30Z' });
    const steps = [...write('g1', FREEZE, 1, asks), ...first, ...budget];
    const { violations } = await oracle([...steps, ...write('r2', ROLLOUT, 12, rollout(2, head, entry(1, '1.0.0')))]);
    expect(violations).toEqual([
      expect.stringContaining('deploys 1.1.0 (2) without a slot of budget fleet'),
      expect.stringContaining('deploys 1.1.0 (2) with 0 of 2 approvals of gate apps/freeze'),
    ]);
  });

  it('an automatic deployment that a RolloutGate blocks, and no manual one', async () => {
    const qa = { apiGroup: 'kuberik.com', resource: 'rolloutgates', namespace: 'apps', name: 'qa' };
    const closedByQa = write('q1', qa, 11, { spec: { rolloutRef: { name: 'app' }, passing: false } });
    const deploy = (message: string) => {
      const head = entry(2, '1.1.0', { message, timestamp: '2026-11-21T12:00:30Z' });
      return write('r2', ROLLOUT, 12, rollout(2, head, entry(1, '1.0.0')));
    };
    const steps = [...write('g1', FREEZE, 1, opened), ...first, ...closedByQa];
    expect((await oracle([...steps, ...deploy('Automatic deployment')])).violations).toEqual([
      expect.stringContaining('deploys 1.1.0 (2) while kuberik.com/rolloutgates/apps/qa is closed since revision 11'),
    ]);
    expect((await oracle([...steps, ...deploy('Manual deployment')])).violations).toEqual([]);
  });

  it('a managed field that differs from the deployment', async () => {
    const carried = (value: string) => ({
      spec: { postBuild: { substitute: { APP_VERSION: value } } },
      metadata: {
        annotations: {
          'rollout.kuberik.com/substitute.APP_VERSION.from': 'app',
          'rollout.kuberik.com/deployed': 'app=1/1.0.0/uid-app',
        },
      },
    });
    expect((await oracle([...first, ...write('a1', APP, 11, carried('1.0.0'))])).violations).toEqual([]);
    expect((await oracle([...first, ...write('a1', APP, 11, carried('6.6.6'))])).violations).toEqual([
      expect.stringContaining('has the annotation app=1/1.0.0/uid-app, but field APP_VERSION is 6.6.6'),
    ]);
  });
});
