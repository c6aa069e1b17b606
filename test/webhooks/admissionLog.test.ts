/** Log lines of an admission request. */
import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../api/admission.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { requestOf } from '../../dev/fakes/requests.ts';
import { admissionDebugLine, admissionDecisions } from '../../webhooks/admissionLog.ts';
import type { AdmissionDecision } from '../../webhooks/response.ts';
import { kustomization, rollout } from '../core/admission/objects.ts';

type AnyObject = KubeObject<any, any>;

const request = (object: AnyObject | undefined, oldObject?: AnyObject, more: Partial<AdmissionRequest> = {}) =>
  ({
    ...requestOf({ object: object ?? null, oldObject: oldObject ?? null, namespace: 'shop' }),
    ...more,
  }) as AdmissionRequest;

const ALLOWED: AdmissionDecision = { allowed: true };
const DENIED: AdmissionDecision = { allowed: false, reason: 'gate_closed', message: "Gate 'freeze' is closed" };
const REVERTED: AdmissionDecision = { allowed: true, revertReason: 'gate_closed', warnings: ['kept as it was'] };

const logged = (route: string, asked: AdmissionRequest, decision: AdmissionDecision = ALLOWED) =>
  admissionDecisions(route, asked, decision).map(({ reason, message }) => [reason, message]);
/** The mutating webhook decides that `before` becomes `after`. */
const change = (before: AnyObject | undefined, after: AnyObject, more: Partial<AdmissionRequest> = {}) =>
  admissionDecisions('mutate/flux', request(before ?? after, before, more), { allowed: true, object: after });
const changed = (...args: Parameters<typeof change>) => change(...args).map(({ reason, message }) => [reason, message]);
const marked = (state: string | undefined, deployed = '') =>
  kustomization({ annotations: state === undefined ? {} : { 'gate.fluxcd.io/state': state }, deployed });

describe('a write of a Flux object, as it is stored', () => {
  it.each<[what: string, before: string | undefined, after: string | undefined, lines: string[][]]>([
    ['closed', undefined, 'closed: shop/freeze', [['Suspended', 'held, suspended by closed Gates: shop/freeze']]],
    [
      'closed by one more',
      'closed: a/a',
      'closed: a/a,b/b',
      [['Suspended', 'held, suspended by closed Gates: a/a, b/b']],
    ],
    ['open', 'closed: a/a', 'open', [['Resumed', 'no closed Gate holds it now']]],
    ['its first Gate, an open one', undefined, 'open', []],
    ['no Gate any more', 'closed: a/a', undefined, [['Resumed', 'it no longer requires a Gate']]],
    ['as before', 'closed: a/a', 'closed: a/a', []],
  ])('%s', (_, before, after, lines) => {
    expect(changed(marked(before), marked(after))).toEqual(lines);
  });

  it.each<[what: string, more: Partial<AdmissionRequest>, lines: string[][]]>([
    ['an edit', {}, [['BypassAllowed', 'sre bypassed a/a (UPDATE): INC-1']]],
    ['a status', { subResource: 'status' }, [['BypassAllowed', 'sre bypassed a/a (UPDATE): INC-1']]],
    ['a dry run', { dryRun: true }, []],
  ])('that bypasses a Gate is logged with its reason when it is allowed: %s', (_, more, lines) => {
    const decision = { allowed: true, audit: { bypass: 'sre bypassed a/a (UPDATE): INC-1' } } as const;
    expect(logged('validate/rollout-status', request(marked('closed: a/a'), undefined, more), decision)).toEqual(lines);
  });

  it('that is reviewed again after a conflict is one decision, and two seconds later another', () => {
    const line = (uid: string) => change(marked(undefined), marked('closed: a/a'), { uid })[0];
    expect([line('1')?.key === line('2')?.key, line('1')?.againAfterMs]).toEqual([true, 2000]);
  });

  it('that gets its version', () => {
    expect(changed(marked(undefined, 'app=1/1.0.0/u'), marked(undefined, 'app=2/1.1.0/u'))).toEqual([
      ['VersionSet', 'carries app 1.1.0 (2)'],
    ]);
  });

  it('is logged as decided, once: not as requested, not by the validating webhook, not in a dry run, not of a status', () => {
    const [before, after] = [marked(undefined), marked('closed: a/a')];
    expect(logged('mutate/flux', request(after, before))).toEqual([]);
    expect(logged('validate/flux', request(after, before))).toEqual([]);
    expect(changed(before, after, { dryRun: true })).toEqual([]);
    expect(changed(before, after, { subResource: 'status' })).toEqual([]);
  });
});

describe('a write of a Rollout', () => {
  const annotated = (annotations: Record<string, string>, wantedVersion?: string) => {
    const object = rollout('web', '1.0.0');
    return { ...object, metadata: { ...object.metadata, annotations }, spec: { ...object.spec, wantedVersion } };
  };
  const force = { 'rollout.kuberik.com/force-deploy': '1.2.0' };

  it.each<[what: string, before: AnyObject, after: AnyObject, lines: string[][]]>([
    ['a request', annotated({}), annotated(force), [['Requested', 'rollout.kuberik.com/force-deploy: 1.2.0']]],
    ['one that waits already', annotated(force), annotated(force, undefined), []],
    ['a pin', annotated({}), annotated({}, '1.2.0'), [['Requested', 'spec.wantedVersion: 1.2.0']]],
    ['its end', annotated({}, '1.2.0'), annotated({}), [['Requested', 'spec.wantedVersion: none']]],
    ['a request that was acted on', annotated(force), annotated({}), []],
  ])('%s', (_, before, after, lines) => {
    expect(logged('validate/rollout', request(after, before))).toEqual(lines);
  });
});

describe('a denial', () => {
  const asked = request(marked('closed: a/a'), marked('closed: a/a'));

  it('has the user, the refused action and the cause', () => {
    expect(admissionDecisions('mutate/flux', asked, DENIED)).toMatchObject([
      {
        kind: 'Kustomization',
        namespace: 'shop',
        name: 'web',
        reason: 'Denied',
        user: 'alice',
        message: "UPDATE denied (gate_closed): Gate 'freeze' is closed",
        isRateLimited: true,
      },
    ]);
  });

  it('of a controller that retries forever is logged again after ten minutes', () => {
    const [one, other] = [asked, { ...asked, uid: 'another' }].map(
      (each) => admissionDecisions('mutate/flux', each, DENIED)[0],
    );
    expect([one?.key === other?.key, one?.againAfterMs]).toEqual([true, 600_000]);
  });

  it('in a dry run is only in the answer', () => {
    expect(logged('mutate/flux', { ...asked, dryRun: true }, DENIED)).toEqual([]);
  });
});

describe('a hold', () => {
  const asked = (generation: number, dryRun = true) => {
    const stored = { ...marked('closed: a/a') };
    stored.metadata = { ...stored.metadata, generation };
    return request(marked('closed: a/a'), stored, { dryRun });
  };

  it('is logged in a dry run too: Flux sends nothing else', () => {
    expect(logged('mutate/flux', asked(1), REVERTED)).toEqual([['Reverted', 'UPDATE: kept as it was']]);
  });

  it('of a managed field is logged at level debug: with a literal in Git each sync repeats it', () => {
    expect(logged('mutate/flux', asked(1), { ...REVERTED, revertReason: 'managed_field' })).toEqual([]);
  });

  it('is one decision for each generation and closure, whatever syncs repeat it', () => {
    const key = (generation: number, dryRun: boolean) =>
      admissionDecisions('mutate/flux', asked(generation, dryRun), REVERTED)[0]?.key;
    expect([key(1, true) === key(1, false), key(1, true) === key(2, true)]).toEqual([true, false]);
  });
});

it('at level debug each request is logged, with its answer', () => {
  const asked = request(marked(undefined), undefined, { dryRun: true });
  expect(admissionDebugLine('mutate/flux', asked, ALLOWED)).toEqual({
    kind: 'Kustomization',
    namespace: 'shop',
    name: 'web',
    route: 'mutate/flux',
    operation: 'CREATE',
    user: 'alice',
    dryRun: true,
    message: 'admission: allowed',
  });
  expect(admissionDebugLine('mutate/flux', asked, DENIED).message).toBe("admission: denied: Gate 'freeze' is closed");
});

it('an object without a name yet is logged with its generateName', () => {
  const object = marked('closed: a/a');
  object.metadata = { ...object.metadata, generateName: 'job-' };
  delete object.metadata.name;
  expect(change(undefined, object)[0]?.name).toBe('job-…');
});

it.each<[what: string, damaged: Partial<AdmissionRequest>]>([
  ['no kind', { kind: null as never }],
  ['no metadata', { object: { apiVersion: 'v1', kind: 'Gate' } as never }],
  ['a name that is none', { object: { metadata: { name: { toString: 1 }, annotations: [null] } } as never }],
])('what some routes let be does not break the log: %s', (_, damaged) => {
  const asked = request(marked('closed: a/a'), marked(undefined), damaged);
  for (const decision of [ALLOWED, DENIED]) {
    expect(() => admissionDecisions('validate/rollout', asked, decision)).not.toThrow();
    expect(() => admissionDebugLine('validate/flux', asked, decision)).not.toThrow();
  }
});
