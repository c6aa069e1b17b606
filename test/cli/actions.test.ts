/** The command line of every action makes the write of the table. */
import { describe, expect, it } from 'vitest';
import { BYPASS_REASON, BYPASSED_GATES } from '../../api/annotations.ts';
import { KINDS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ActionRequest, ActionType } from '../../client/actions/action.ts';
import { commandOf, linesOf } from '../../client/actions/lines.ts';
import { ACTIONS, takesReason, writeOf } from '../../client/actions/table.ts';
import type { FreezeRequest } from '../../client/actions/writes/freeze.ts';
import { isRequest } from '../../client/actions/writes/plannedWrite.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { objectOf } from '../support/objects.ts';
import { words } from '../support/words.ts';
import { NOW, type Stored, typed, written } from './objectServer.ts';

const reason = "INC-42, it's over";
const version = '1.2.0';

const entry = (tag: string, id: number, bakeStatus: string) => ({ id, version: { tag }, timestamp: '', bakeStatus });
const rollout = (spec: object, history: object[], rest: object = {}, annotations: object = {}) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web', resourceVersion: '7', annotations },
    spec,
    status: { history, ...rest },
  } as never);
const DEPLOYED = rollout({}, [entry('1.1.0', 2, 'Succeeded'), entry('1.0.0', 1, 'Succeeded')]);
const FAILED = rollout({ onFailure: 'Hold' }, [entry('1.1.0', 2, 'Failed'), entry('1.0.0', 1, 'Succeeded')]);
const PINNED = rollout({ wantedVersion: '1.0.0' }, [entry('1.0.0', 1, 'Succeeded')]);
const REQUESTED = rollout(
  {},
  [entry('1.0.0', 1, 'Succeeded')],
  {},
  {
    'rollout.kuberik.com/force-deploy': '9.9.9',
    'rollout.kuberik.com/deploy-message': 'typo',
  },
);
const named = (gate: string) =>
  rollout({ gates: [{ name: gate }] }, [], { namedGates: [{ gate: `shop/${gate}`, seen: true }] });
const gate = (spec: object, annotations: object = {}) =>
  objectOf('Gate', { metadata: { namespace: 'shop', name: 'freeze', annotations }, spec } as never);
const CLOSED = gate({ default: 'closed' }, { 'open.gate.fluxcd.io/reason': 'an older one' });
const ASKING = gate({ default: 'closed', approvals: { required: 2 } });
const rolloutGate = (spec: object) =>
  objectOf('RolloutGate', {
    metadata: { namespace: 'shop', name: 'qa', resourceVersion: '7' },
    spec: { rolloutRef: { name: 'web' }, ...spec },
  } as never);
const LIST = rolloutGate({ allowedVersions: ['1.1.0'], rejectedVersions: ['1.0.9'] });
const versions = [{ image: 'i', version, failed: 2, blocked: true }];
const budget = (kind: 'RolloutBudget' | 'ClusterRolloutBudget', namespace?: string) =>
  objectOf(kind, {
    metadata: { name: 'fleet', ...(namespace && { namespace }) },
    spec: { maxConcurrent: 1 },
    status: { versions },
  } as never);
const WEB = objectOf('Kustomization', {
  metadata: { namespace: 'shop', name: 'web' },
  spec: { suspend: true },
} as never);

const of = ({ kind, metadata }: KubeObject<any, any>) => ({
  kind: kind as ActionRequest['object']['kind'],
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});
const at = { namespace: 'shop', name: 'web' };
const kinds = ['Kustomization' as const, 'Rollout' as const];
const SELECTORS = {
  labelSelector: {
    matchLabels: { tier: 'web' },
    matchExpressions: [
      { key: 'zone', operator: 'In' as const, values: ['a', 'b'] },
      { key: 'env', operator: 'NotIn' as const, values: ['test'] },
      { key: 'canary', operator: 'Exists' as const },
      { key: 'legacy', operator: 'DoesNotExist' as const },
    ],
  },
  namespaceSelector: { matchLabels: { team: 'payments' } },
};
const MONDAY = Date.parse('2026-11-23T08:00:00Z');
const HOUR = 3_600_000;
const FREEZES: FreezeRequest[] = [
  {},
  { selects: { kinds } },
  { selects: { namespaceSelector: {} } },
  { selects: SELECTORS },
  { lasts: 24 * HOUR },
  { lasts: 1.5 * HOUR + 5000 },
  { until: MONDAY },
  { at: MONDAY },
  { at: MONDAY, lasts: 4 * HOUR },
  { at: MONDAY, until: MONDAY + 62 * HOUR },
  { every: { days: ['Friday'], timezone: 'Europe/Berlin' } },
  { every: { days: DAYS, hours: { start: '16:00', end: '08:00' }, timezone: 'UTC' } },
];
const newGate = { kind: 'Gate' as const, namespace: 'shop', name: 'incident' };

type Row = [type: ActionType, found: KubeObject<any, any> | undefined, given?: Partial<ActionRequest>];

const TABLE: Row[] = [
  ['deploy', DEPLOYED, { version }],
  ['pin', DEPLOYED, { version }],
  ['unpin', PINNED],
  ['rollback', DEPLOYED, { version: '1.0.0' }],
  ['retry', FAILED, { version: '1.1.0' }],
  ['unblock', FAILED],
  ['withdraw', REQUESTED],
  ['withdraw', rolloutGate({ approvals: { required: 2 } }), { version }],
  ['withdraw', ASKING, { version, rollout: at }],
  ['approve', LIST, { version }],
  ['approve', rolloutGate({ passing: false }), { version }],
  ['approve', rolloutGate({ approvals: { required: 2 } }), { version }],
  ['approve', ASKING, { version, rollout: at }],
  ['bypassRolloutGates', DEPLOYED, { version }],
  ['reject', LIST, { version }],
  ['bypass', DEPLOYED, { version }],
  ['bypass', PINNED, { version }],
  ['bypass', WEB],
  ['continue', budget('RolloutBudget', 'shop'), { version }],
  ['continue', budget('RolloutBudget', 'shop'), { version, image: 'i' }],
  ['continue', budget('ClusterRolloutBudget'), { version }],
  ['open', CLOSED],
  ['open', CLOSED, { version }],
  ['open', CLOSED, { span: { at: MONDAY } }],
  ['open', rolloutGate({ passing: false })],
  ['close', gate({ default: 'opened' })],
  ['close', gate({ default: 'opened' }), { span: { at: MONDAY } }],
  ['close', rolloutGate({ passing: true })],
  ...FREEZES.map((freeze): Row => ['freeze', undefined, { freeze }]),
  [
    'freeze',
    gate({ default: 'opened', selects: { kinds, ...SELECTORS } }),
    { freeze: { selects: { kinds, ...SELECTORS } } },
  ],
  ['resume', WEB],
  ['create', undefined],
  ['unrequire', named('typo'), { gate: { namespace: 'shop', name: 'typo' } }],
];

const rows = TABLE.map(([type, found, given]) => {
  const request: ActionRequest = { type, object: found ? of(found) : newGate, reason, ...given };
  return [`${commandOf(request) ?? type}`, request, found, found ? [found] : []] as const;
});

describe('the write of an action is that of its command', () => {
  /** The object as the webhook stores it behind a closed Gate. */
  const granted = (object: Stored): Stored => {
    const { annotations } = object.metadata;
    if (annotations?.[BYPASS_REASON] === undefined) return object;
    return {
      ...object,
      metadata: { ...object.metadata, annotations: { ...annotations, [BYPASSED_GATES]: 'granted' } },
    };
  };

  it.each(rows.filter(([, request]) => ACTIONS[request.type].words))('%s', async (line, request, found, objects) => {
    const write = writeOf(request, found, NOW);
    if (!isRequest(write)) throw new Error(write.none);
    const { writes: all, err } = await typed([...words(line).slice(2), '--yes'], objects, {}, { admits: granted });
    const writes = all.filter(({ isDryRun }) => !isDryRun);
    expect(
      writes.map(({ body }) => body),
      err,
    ).toEqual([write.body]);
    expect(writes[0]?.method).toBe(write.creates ? 'POST' : 'PATCH');
  });
});

describe('an object of another namespace', () => {
  const prod = { ...WEB, metadata: { ...WEB.metadata, namespace: 'prod' } };
  const other = { ...WEB, metadata: { ...WEB.metadata, name: 'prod' } };

  it.each([['kustomization/prod/web'], ['ks/prod/web']])('is the one that bypass %s writes', async (name) => {
    const { writes, err } = await written(`kubectl rollouts bypass ${name} --reason INC-1`, [prod, other]);
    expect(
      writes.map(({ path }) => path),
      err,
    ).toEqual(['/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/prod/kustomizations/web']);
  });

  it('is not looked for in the namespace of the context where a name has more parts', async () => {
    const { writes, code, err } = await written('kubectl rollouts bypass ks/x/prod/web --reason INC-1', [WEB, prod]);
    expect([code, writes]).toEqual([1, []]);
    expect(err).toContain("'ks/x/prod/web' names no object: expected NAME, KIND/NAME or KIND/NAMESPACE/NAME.");
  });
});

it('freeze without the right says which one it takes, and writes nothing', async () => {
  const line = "kubectl rollouts freeze incident -n shop --namespace-selector ''";
  const { writes, err, code } = await written(line, [], false);
  const lacks = 'create on gates shop/incident and select-namespaces on gates *';
  expect(err).toContain(`You can't freeze with Gate shop/incident: you need ${lacks}.`);
  expect([code, writes]).toEqual([1, []]);
});

it('the table has every action, with every kind that it writes', () => {
  const written = (type: ActionType) =>
    new Set(rows.flatMap(([, request]) => (request.type === type ? request.object.kind : [])));
  for (const [type, { kinds }] of Object.entries(ACTIONS)) {
    const others = kinds.filter((kind) => !written(type as ActionType).has(kind));
    // Flux's kinds differ only in their names.
    expect(
      others.filter((kind) => !('governed' in KINDS[kind])),
      type,
    ).toEqual([]);
  }
});

it.each(rows.filter(([, { version: tag }]) => tag))('a version that is no tag is refused: %s', (_, request, found) => {
  const write = writeOf({ ...request, version: `${request.version} --yes` }, found, NOW);
  expect(write).toMatchObject({ isWrong: true, none: expect.stringContaining("0 --yes' is not a tag") });
});

describe('the line of kubectl', () => {
  it.each(rows)('%s', (_, request, found) => {
    const { kubectl, command } = linesOf(request, found, NOW);
    expect(kubectl).toMatch(/^kubectl( -n shop)? (annotate|patch|create) /);
    if (!ACTIONS[request.type].words && request.type !== 'resume') expect(command).toBe(kubectl);
    if (kubectl.includes(' patch '))
      expect(JSON.parse(words(kubectl).at(-1)!)).not.toHaveProperty('metadata.resourceVersion');
  });

  it('has the time at which it is run', () => {
    const { kubectl } = linesOf({ type: 'open', object: of(CLOSED), reason: '' }, CLOSED, NOW);
    expect(kubectl).toBe(
      'kubectl -n shop annotate --overwrite gate/freeze open.gate.fluxcd.io/requestedAt="$(date -u +%Y-%m-%dT%H:%M:%SZ)" open.gate.fluxcd.io/reason-',
    );
  });

  it.each(rows.filter(([, { type }, found]) => found && type !== 'freeze' && ACTIONS[type].words))(
    'of an object that can’t be read is our command: %s',
    (_, request) => {
      const { kubectl, command } = linesOf(request, undefined, NOW);
      expect(kubectl).toBe(command);
    },
  );

  it('has no reason that the write can’t keep', () => {
    const kept = (request: ActionRequest) => takesReason({ ...request, reason });
    expect(kept({ type: 'withdraw', object: of(ASKING), version, rollout: at })).toBe(false);
    expect(kept({ type: 'withdraw', object: of(REQUESTED) })).toBe(true);
    expect(kept({ type: 'create', object: newGate })).toBe(false);
  });
});

describe('withdraw', () => {
  it.each([
    ['rolloutgate/qa 1.2.0', rolloutGate({ approvals: { required: 2 } })],
    ['gate/freeze shop/web:1.2.0', ASKING],
  ])('takes no reason that it cannot keep: %s', async (target, found) => {
    const { writes, err } = await written(`kubectl rollouts withdraw ${target} -n shop --reason typo`, [found]);
    expect([writes, err]).toEqual([[], expect.stringContaining('leave --reason out')]);
  });
});

describe('close', () => {
  it('creates the RolloutGate of a Rollout, and closes an existing one', async () => {
    const line = 'kubectl rollouts close rolloutgate/qa -n shop --rollout web --reason QA-88';
    const made = await written(line, [DEPLOYED]);
    expect(made.writes, made.err).toMatchObject([
      {
        method: 'POST',
        body: { metadata: { name: 'qa' }, spec: { rolloutRef: { name: 'web' }, passing: false } },
      },
    ]);
    const { writes } = await written(line, [DEPLOYED, rolloutGate({ passing: true })]);
    expect(writes).toMatchObject([{ method: 'PATCH', body: { spec: { passing: false } } }]);
  });

  it.each([
    ['of another Rollout', 'rolloutgate/qa --rollout api', /is for Rollout web/],
    ['that is a Gate', 'gate/qa --rollout web', /is for a RolloutGate/],
    ['of a Rollout that does not exist', 'rolloutgate/other --rollout api', /no Rollout api/],
  ])('writes no RolloutGate %s', async (_, words, why) => {
    const { writes, err } = await written(`kubectl rollouts close -n shop ${words}`, [DEPLOYED, rolloutGate({})]);
    expect([writes, err]).toEqual([[], expect.stringMatching(why)]);
  });

  it('of a gate that does not exist has the commands that create one on lines of their own', async () => {
    const { writes, err, code } = await written("kubectl rollouts close web -n shop --for 120m --reason 'it leaks'", [
      DEPLOYED,
    ]);
    expect([writes, code]).toEqual([[], 1]);
    const commands = err.split('\n').filter((line) => line.startsWith('  '));
    expect(commands).toEqual([
      "  kubectl rollouts freeze web --for 2h -n shop --reason 'it leaks'",
      '  kubectl rollouts close rolloutgate/web -n shop --rollout web',
    ]);
    for (const command of commands)
      expect(await written(command.trim(), [DEPLOYED])).toMatchObject({ code: 0, writes: [{ method: 'POST' }] });
    const approved = await written('kubectl rollouts approve rolloutgate/web 1.2.0 -n shop', [DEPLOYED]);
    expect(approved.err.split('\n')).toContain(commands[1]);
    const unknown = await written('kubectl rollouts close rolloutgate/web -n shop', []);
    expect(unknown.err).toContain(" --rollout '<rollout>'\n");
  });
});
