/** Writes that another team's mutating webhook changes, before ours, after ours, or both. */
import { describe, expect, it } from 'vitest';
import { GATE_STATE, REQUIRED_GATES, SUSPENDED } from '../../../api/annotations.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import { annotate, labelAll } from '../../../core/kube/annotate.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { mutate, validate } from '../../../dev/sim/apiServer/admission.ts';
import { deployment, gate, kustomization, NOW } from '../../core/admission/objects.ts';
import { responseOf } from '../../support/admission.ts';

const LABELS = { team: 'shop' };
const metacontroller = { username: 'system:serviceaccount:metacontroller:metacontroller' };
const alice = { username: 'alice' };
type Change = (object: AnyObject) => AnyObject;
const unchanged: Change = (object) => object;

/** The object that a write stores behind these closed Gates. Rejects if it is denied. */
async function store(
  write: { object: AnyObject; oldObject: AnyObject | null; userInfo: { username: string } },
  gates: AnyObject[],
  { before = unchanged, after = unchanged }: { before?: Change; after?: Change },
): Promise<AnyObject> {
  const { call } = fakeWebhookCall({ now: NOW, objects: gates });
  const request = requestOf(write);
  const answer = (path: string, each: typeof request) => responseOf(path.replace('/admission/', ''), each, call);
  const object = (await mutate(request, answer, unchanged, (each, isFirst) => (isFirst ? before : after)(each)))!;
  await validate({ ...request, object }, answer);
  return object;
}

const withSpec =
  (spec: Record<string, unknown>): Change =>
  (object) => ({ ...object, spec: { ...object.spec, ...spec } });

describe('the write that suspends an object behind a closed Gate', () => {
  const freeze = gate('shop/freeze');
  const running = kustomization({ annotations: { [REQUIRED_GATES]: 'freeze', [GATE_STATE]: 'open' } });
  const marked = annotate(running, GATE_STATE, 'closed: shop/freeze');
  const defaults = withSpec({ timeout: '5m', prune: false });
  it.each([
    ['before ours', { before: defaults }],
    ['after ours', { after: defaults }],
    ['both times', { before: defaults, after: defaults }],
  ])('is stored if another webhook changes the spec %s', async (_, changes) => {
    const stored = await store({ object: marked, oldObject: running, userInfo: metacontroller }, [freeze], changes);
    expect(stored.spec).toMatchObject({ suspend: true, timeout: '5m' });
    expect(stored.metadata.annotations).toMatchObject({ [GATE_STATE]: 'closed: shop/freeze' });
  });

  const version = withSpec({ postBuild: { substitute: { APP: '9.9.9' } } });
  it('keeps a managed field that another webhook changes before ours', async () => {
    const bound = kustomization({
      annotations: { ...running.metadata.annotations, 'rollout.kuberik.com/substitute.APP.from': 'my-app' },
      deployed: deployment('my-app', 1, '1.0.0'),
      substitute: { APP: '1.0.0' },
    });
    const object = annotate(bound, GATE_STATE, 'closed: shop/freeze');
    const write = { object, oldObject: bound, userInfo: metacontroller };
    const stored = await store(write, [freeze], { before: version });
    expect(stored.spec).toEqual({ ...bound.spec, suspend: true });
    await expect(store(write, [freeze], { after: version })).rejects.toThrow(/another mutating webhook set/);
  });

  it.each([
    ['before ours', { before: defaults }],
    ['after ours', { after: defaults }],
  ])('is stored after a bypass, if another webhook changes the spec %s', async (_, changes) => {
    const oldObject = kustomization({
      annotations: {
        [REQUIRED_GATES]: 'freeze',
        [GATE_STATE]: 'bypassing: shop/freeze',
        [SUSPENDED]: 'unset',
      },
    });
    const object = annotate(oldObject, GATE_STATE, 'closed: shop/freeze');
    const stored = await store({ object, oldObject, userInfo: metacontroller }, [freeze], changes);
    expect(stored.spec).toMatchObject({ suspend: true, timeout: '5m' });
  });

  it('is denied if another webhook changes the Gates', async () => {
    const before = (object: AnyObject) => annotate(object, REQUIRED_GATES, undefined);
    const write = { object: marked, oldObject: running, userInfo: metacontroller };
    await expect(store(write, [freeze], { before })).rejects.toThrow(/cannot be changed/);
    await expect(store(write, [freeze], { after: before })).rejects.toThrow(/another mutating webhook changed/);
  });
});

describe('a label by which a closed Gate selects the object', () => {
  const team = gate('shop/team', { selects: { labelSelector: { matchLabels: LABELS } } });
  const open = gate('shop/open', { default: 'opened' });
  const label = (object: AnyObject) => labelAll(object, LABELS);
  const bound = kustomization({ substitute: {} });
  const gated = kustomization({ annotations: { [REQUIRED_GATES]: 'open', [GATE_STATE]: 'open' } });
  it.each([
    ['that no Gate holds', bound],
    ['of an open Gate', gated],
  ])('is denied on a new object %s if another webhook adds it after ours', async (_, object) => {
    const write = { object, oldObject: null, userInfo: alice };
    await expect(store(write, [team, open], { after: label })).rejects.toThrow(
      /made it require a closed Gate too late/,
    );
    expect((await store(write, [team, open], { before: label })).spec?.suspend).toBe(true);
  });

  it('is stored on an object, which the decorator then holds: otherwise the Gate would never select it', async () => {
    const write = { object: annotate(gated, 'note', 'x'), oldObject: gated, userInfo: alice };
    expect((await store(write, [team, open], { after: label })).metadata.labels).toEqual(LABELS);
  });
});
