import { describe, expect, it } from 'vitest';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { Gate } from '../../../api/types.ts';
import { closedAmong, closureKeys, LIMIT_OF_GATES } from '../../../core/gate/closedGates.ts';
import { evaluateGates, type GateResult } from '../../../core/gate/evaluateGates.ts';
import { parseGateRefs } from '../../../core/gate/gateRefs.ts';
import { gateSelects, gateSelectsRollout } from '../../../core/gate/gateSelection.ts';
import { byRefKey } from '../../../core/kube/names.ts';
import { bypassText, denialText } from '../../../core/objectGates/gateTexts.ts';
import { currentState, formatState } from '../../../core/objectGates/objectState.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';
import { gate } from './gate.ts';

const allOpen = (gates: GateResult[]) => closedAmong(gates) === undefined;

/** The denial for a reader of the Gate's namespace. */
const deniedBy = (ref: NamespacedName, found: Gate, at: number) =>
  denialText(
    { reason: 'gate_closed', text: '', closed: closedAmong(evaluateGates([ref], byRefKey([found]), at)) },
    ref.namespace,
  );

describe('gate.fluxcd.io/gates', () => {
  const ref = (namespace: string, name: string) => ({ namespace, name });
  it.each([
    [undefined, [], 0],
    ['', [], 0],
    ['a', [ref('apps', 'a')], 0],
    [' a , platform/b,', [ref('apps', 'a'), ref('platform', 'b')], 0],
    ['a,apps/a,a', [ref('apps', 'a')], 0],
    ['platform/freeze.2026', [ref('platform', 'freeze.2026')], 0],
    ['A,b', [ref('apps', 'b')], 1],
    ['a/b/c,/d,e/', [], 3],
  ])('%j', (annotation, refs, problems) => {
    const parsed = parseGateRefs(annotation, 'apps');
    expect(parsed.refs).toEqual(refs);
    expect(parsed.problems).toHaveLength(problems);
  });

  it('takes 200 names', () => {
    const names = Array.from({ length: 200 }, (_, i) => `ns-${i}/gate-${i}`);
    expect(parseGateRefs(names.join(','), 'apps').refs).toHaveLength(200);
  });
});

describe('required gates', () => {
  const at = Date.parse('2026-01-05T10:00:00Z');
  const one = { namespace: 'platform', name: 'freeze' };
  const open = gate({ default: 'opened' });
  const closed = gate({ default: 'closed' });

  it('none required, nothing held', () => expect(allOpen(evaluateGates([], new Map(), at))).toBe(true));
  it('user and reason of a closure are shown to the users whom it stops', () => {
    const request = { action: 'close' as const, at: '2026-01-05T09:00:00Z', by: 'anna', reason: 'INC-42' };
    const frozen = (more = {}) => ({ ...open, status: { request: { ...request, ...more } } });
    const text = (more = {}) => deniedBy(one, frozen(more), at).text;
    expect(text()).toContain("Gate 'platform/freeze' is closed by anna: INC-42");
    expect(text({ reason: undefined })).toContain("'platform/freeze' is closed by anna.");
    expect(text({ reason: 'x'.repeat(5000) }).length).toBeLessThan(500);
    expect(deniedBy(one, closed, at).text).toContain('(Gate closed by default)');
  });
  it.each<[title: string, spec: object, closure: string]>([
    ['a request', {}, 'close=2026-01-05T09:00:00Z'],
    ['a request with a window', { window: '8h' }, 'close=2026-01-05T09:00:00Z~2026-01-05T17:00:00Z'],
  ])('a planned opening is no other closure, by %s: a bypass of it lasts', (_, spec, closure) => {
    const request = { action: 'close' as const, at: '2026-01-05T09:00:00Z' };
    const planned = { action: 'open' as const, at: '2026-01-05T12:00:00Z' };
    const frozen = { ...gate({ default: 'opened', ...spec }), status: { request } };
    const closures = [frozen, { ...frozen, status: { request, planned } }].map(
      (each) => evaluateGates([one], byRefKey([each]), at)[0]?.closure,
    );
    expect(closures).toEqual([closure, closure]);
  });
  it('with approvals, the end of a closure begins another one: a bypass from before the closure stays ended', () => {
    const approved = gate({ default: 'closed', approvals: { required: 1 } });
    const [T9, T10] = ['2026-01-05T09:00:00Z', '2026-01-05T10:00:00Z'];
    const requested = (request: object) => ({ ...approved, status: { request } }) as Gate;
    const each = [approved, requested({ action: 'close', at: T9 }), requested({ action: 'open', at: T10 })];
    const closures = each.map((found) => evaluateGates([one], byRefKey([found]), at)[0]?.closure);
    expect(closures).toEqual([undefined, `close=${T9}`, `open=${T10}`]);
  });
  it('the absence of a Gate is another closure than that of the Gate: a bypass ends once it is created, closed', () => {
    const bypassed = closureKeys(closedAmong(evaluateGates([one], new Map(), at)));
    const created = closureKeys(closedAmong(evaluateGates([one], byRefKey([closed]), at)));
    const state = formatState({ is: 'bypassed', gates: bypassed });
    const object = { metadata: { annotations: { 'gate.fluxcd.io/state': state } } };
    expect(currentState(object, bypassed)).toBe('bypassed');
    expect(currentState(object, created)).toBe('closed');
  });
  it('a closure that is over is not why the calendar has closed a gate', () => {
    const mondays = { rules: [{ daysOfWeek: ['Monday' as const] }] };
    const request = { action: 'close' as const, at: '2026-01-03T09:00:00Z', by: 'anna', reason: 'INC-42' };
    const scheduled = { ...gate({ default: 'opened', window: '1h', schedule: mondays }), status: { request } };
    const [held] = evaluateGates([one], byRefKey([scheduled]), at);
    expect(held?.isOpen).toBe(false);
    expect(held?.message).toMatch(/^Gate scheduled for opening at 2026-01-06T00:00:00Z$/);
    expect(held?.closedBy).toBeUndefined();
  });
  it.each([
    ['apps/app:1.0.0', '1.0.0', true],
    ['apps/other:1.0.0', '1.0.0', false],
    ['apps/app:1.0.1', '1.0.0', false],
    ['app:1.0.0', '1.0.0', false],
    ['1.0.0', '1.0.0', true],
    ['1.0.0', '1.0.1', false],
    ['1.0.0', undefined, false],
  ])('open for %s, asked for %s of apps/app', (opened, version, expected) => {
    const users = { requesters: [], authors: undefined };
    const next = version === undefined ? undefined : { version, rollout: 'apps/app', uid: 'uid-app', users };
    const annotations = {
      'open.gate.fluxcd.io/requestedAt': '2026-01-05T10:00:00Z',
      'open.gate.fluxcd.io/for': opened,
    };
    const given = gate({ default: 'closed', window: '1h' }, annotations);
    expect(allOpen(evaluateGates([one], byRefKey([given]), at, next))).toBe(expected);
    const [planned] = evaluateGates([one], byRefKey([given]), at - 600_000, next);
    expect(planned).toMatchObject({ isOpen: false, until: expected ? at : undefined });
  });
});

it('beyond a limit a bypass takes the right for all Gates, since any of them may hold the object', () => {
  expect(bypassText(undefined, 'write', { gates: [], limit: LIMIT_OF_GATES })).toMatch(
    /You need the verb bypass on all Gates of the cluster\.$/,
  );
});

describe('a Gate with approvals that a request has closed', () => {
  const at = Date.parse('2026-01-05T12:00:00Z');
  const ref = { namespace: 'platform', name: 'freeze' };
  const closed = (standard: 'opened' | 'closed') =>
    gate(
      { default: standard, approvals: { required: 1 } },
      { 'close.gate.fluxcd.io/requestedAt': '2026-01-05T10:00:00Z' },
    );

  it.each([
    ['opened', 'is closed by an unknown user.', 1],
    ['closed', 'an unknown user (it opens only by approvals', 0],
  ] as const)('by default %s: a denial has the command that opens it if there is one', (standard, text, commands) => {
    const denied = deniedBy(ref, closed(standard), at);
    expect(denied.text.includes('only by approvals')).toBe(commands === 0);
    expect(denied.text).toContain(text);
    expect(denied.commands).toHaveLength(commands);
  });
});

describe('spec.selects', () => {
  const object = (kind: string, namespace: string, group = 'kustomize.toolkit.fluxcd.io') =>
    kubeObject(`${group}/v1`, kind, `${namespace}/web`, { metadata: { labels: { team: 'shop' } } });
  const inApps = object('Kustomization', 'apps');
  it.each([
    ['no selects', undefined, inApps, false],
    ['empty: its own namespace only', {}, inApps, false],
    ['empty: its own namespace', {}, object('Kustomization', 'platform'), true],
    ['all namespaces', { namespaceSelector: {} }, inApps, true],
    ['namespaces by label', { namespaceSelector: { matchLabels: { env: 'prod' } } }, inApps, true],
    ['other namespaces', { namespaceSelector: { matchLabels: { env: 'dev' } } }, inApps, false],
    ['objects by label', { namespaceSelector: {}, labelSelector: { matchLabels: { team: 'shop' } } }, inApps, true],
    ['other objects', { namespaceSelector: {}, labelSelector: { matchLabels: { team: 'pay' } } }, inApps, false],
    ['its kind', { namespaceSelector: {}, kinds: ['Kustomization' as const] }, inApps, true],
    ['another kind', { namespaceSelector: {}, kinds: ['Bucket' as const] }, inApps, false],
    ['no Flux object where Rollouts are listed', { namespaceSelector: {}, kinds: ['Rollout' as const] }, inApps, false],
    [
      'a kind of the same name that is not Flux’s',
      { namespaceSelector: {} },
      object('Kustomization', 'apps', 'kustomize.config.k8s.io'),
      false,
    ],
    [
      'a selector that does not compile',
      { namespaceSelector: {}, labelSelector: { matchLabels: { 'a b': '' } } },
      inApps,
      false,
    ],
  ])('%s', (_name, selects, target, expected) => {
    expect(gateSelects(gate({ default: 'closed', ...(selects && { selects }) }), target, { env: 'prod' })).toBe(
      expected,
    );
  });

  const app = (namespace: string) =>
    objectOf('Rollout', `${namespace}/app`, {
      metadata: { labels: { team: 'shop' } },
      spec: { releasesImagePolicy: {} },
    });
  const kinds = ['Rollout' as const];
  it.each([
    ['no selects', undefined, 'platform', false],
    ['without kinds', { namespaceSelector: {} }, 'apps', false],
    ['no kinds listed', { namespaceSelector: {}, kinds: [] }, 'apps', false],
    ['other kinds', { namespaceSelector: {}, kinds: ['Kustomization' as const] }, 'apps', false],
    ['Rollouts of its own namespace', { kinds }, 'platform', true],
    ['Rollouts of its own namespace only', { kinds }, 'apps', false],
    ['Rollouts everywhere', { namespaceSelector: {}, kinds }, 'apps', true],
    ['Rollouts beside another kind', { namespaceSelector: {}, kinds: ['Bucket' as const, ...kinds] }, 'apps', true],
    ['namespaces by label', { namespaceSelector: { matchLabels: { env: 'prod' } }, kinds }, 'apps', true],
    ['other namespaces', { namespaceSelector: { matchLabels: { env: 'dev' } }, kinds }, 'apps', false],
    ['Rollouts by label', { labelSelector: { matchLabels: { team: 'shop' } }, kinds }, 'platform', true],
    ['other Rollouts', { labelSelector: { matchLabels: { team: 'pay' } }, kinds }, 'platform', false],
    ['a selector that does not compile', { labelSelector: { matchLabels: { 'a b': '' } }, kinds }, 'platform', false],
  ])('of Rollouts: %s', (_name, selects, namespace, expected) => {
    const selecting = gate({ default: 'closed', ...(selects && { selects }) });
    expect(gateSelectsRollout(selecting, app(namespace), { env: 'prod' })).toBe(expected);
  });
});
