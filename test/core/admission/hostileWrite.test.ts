/** A write of a user who wants to use up admission's time or memory. All Gates here are closed. */

import { describe, expect, it } from 'vitest';
import { GATE_STATE, LAST_APPLIED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { isOutOfScope } from '../../../core/admission/fluxWrite.ts';
import { verifyWrite } from '../../../core/admission/validate.ts';
import { limitDenial } from '../../../core/admission/writeLimits.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { LIMITS } from '../../../core/limits.ts';
import { denialText } from '../../../core/objectGates/gateTexts.ts';
import { fullText } from '../../../core/text/commands.ts';
import { costInReadings } from '../../support/cost.ts';
import { objectOf } from '../../support/objects.ts';
import { asRead, decide, gatesByName, kustomization, NOW, owner, rollout, rolloutsByName } from './objects.ts';

const context = { rollouts: rolloutsByName(), gates: gatesByName(), now: NOW };
const GATED = { 'gate.fluxcd.io/gates': 'missing' };
/** The cost as a multiple of reading the write once; super-linear work costs thousands. */
const CHEAP = 100;

const variables = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`V${i}`, value]));

/** `{a: {a: … leaves}}` */
const nested = (levels: number, leaves: unknown): Record<string, unknown> => {
  let value = leaves;
  for (let i = 0; i < levels; i++) value = { a: value };
  return value as Record<string, unknown>;
};

function helmRelease(values: unknown, more: Partial<FluxObject['metadata']> = {}): FluxObject {
  return objectOf('HelmRelease', {
    metadata: { name: 'web', namespace: 'shop', annotations: GATED, ...more },
    spec: { interval: '10m', values },
  });
}

function written(object: FluxObject, old?: FluxObject) {
  return decide({ object, old, context, user: 'dev', fieldManager: 'kubectl' });
}

const stored = (object: FluxObject): FluxObject => {
  const outcome = written(object);
  if (outcome.denial !== undefined) throw new Error(outcome.denial);
  return outcome.object;
};

function behindGate(object: FluxObject): FluxObject {
  const annotations = { ...object.metadata.annotations, [GATE_STATE]: 'closed: shop/missing' };
  return { ...object, metadata: { ...object.metadata, annotations }, spec: { ...object.spec, suspend: true } };
}

const manyOwners = Array.from({ length: 1000 }, (_, i) => ({ ...owner('Update', `spec.v${i}`), manager: `m${i}` }));

const writes: [title: string, object: FluxObject, old: FluxObject][] = [
  [
    '2000 changed variables beside long last-applied annotations',
    kustomization({
      annotations: { ...GATED, [LAST_APPLIED]: `"${'x'.repeat(200_000)}"` },
      substitute: variables(2000, 'b'),
    }),
    kustomization({
      annotations: { ...GATED, [LAST_APPLIED]: `"${'y'.repeat(200_000)}"` },
      substitute: variables(2000, 'a'),
    }),
  ],
  [
    '50,000 changed values below as many levels as are taken',
    helmRelease(nested(LIMITS.nesting - 2, variables(50_000, 'b'))),
    helmRelease(nested(LIMITS.nesting - 2, variables(50_000, 'a'))),
  ],
  [
    '5000 changed values with a thousand owners',
    helmRelease(variables(5000, 'b'), { managedFields: manyOwners }),
    helmRelease(variables(5000, 'a'), { managedFields: manyOwners }),
  ],
  [
    'values that were stored 2000 levels deep, taken away',
    helmRelease({}),
    helmRelease(nested(2000, variables(20_000, 'a'))),
  ],
];

it.each(writes)('%s: refused at little cost', (_, object, old) => {
  let denial: string | undefined;
  const cost = costInReadings([object, old], () => {
    denial = written(object, old).denial;
  });
  expect(denial).toContain("Gate 'shop/missing' does not exist");
  expect(denial!.length).toBeLessThan(20_000);
  expect(cost).toBeLessThan(CHEAP);
});

it.each(writes)('%s: verified at little cost, in few words', (_, object, old) => {
  const [closed, before] = [behindGate(object), behindGate(old)];
  let problem: string | undefined;
  const cost = costInReadings([object, old], () => {
    problem = fullText(denialText(verifyWrite(asRead({ object: closed, old: before, context, user: 'dev' }))!, 'shop'));
  });
  expect(problem!.length).toBeLessThan(20_000);
  expect(cost).toBeLessThan(CHEAP);
});

it('thousands of managed fields with a long last-applied annotation cost little', () => {
  const annotations = Object.fromEntries(
    Array.from({ length: 2000 }, (_, i) => [`rollout.kuberik.com/substitute.V${i}.from`, 'my-app']),
  );
  const marked = { ...annotations, [LAST_APPLIED]: `"${'x'.repeat(150_000)}"` };
  const write = {
    object: kustomization({ annotations: marked, substitute: variables(2000, '9') }),
    old: kustomization({ annotations: marked, substitute: variables(2000, '1.1.0') }),
    context: { ...context, rollouts: rolloutsByName(rollout('my-app', '1.1.0', '1.0.0')) },
    user: 'dev',
  };
  expect(costInReadings(write.object, () => decide(write))).toBeLessThan(CHEAP);
});

describe.each([LIMITS.nesting + 1, 2000, 9000])('a spec nested %i levels deep', (levels) => {
  const deep = helmRelease(nested(levels - 1, 'a'));
  const limit = `more than ${LIMITS.nesting} levels`;

  it('is refused where it is new, and where it changes', () => {
    const denial = { reason: 'limit', text: expect.stringContaining(limit) };
    expect(limitDenial(deep, undefined, ANY_REF)).toMatchObject(denial);
    expect(limitDenial(helmRelease(nested(levels - 1, 'b')), deep, ANY_REF)).toMatchObject(denial);
  });

  it('is suspended where it was there before the gate', () => {
    const before = { ...deep, metadata: { ...deep.metadata, annotations: {} } };
    expect(limitDenial(deep, before, ANY_REF)).toBeUndefined();
    expect(written(deep, before)).toMatchObject({ object: { spec: { suspend: true } } });
  });

  it('may be repaired where no gate is closed, and is compared whole', () => {
    const unmarked = { ...deep, metadata: { ...deep.metadata, annotations: {} } };
    const repaired = { ...helmRelease({}), metadata: unmarked.metadata };
    const outcome = decide({ object: repaired, old: unmarked, context, user: 'dev' });
    expect(outcome.denial).toBeUndefined();
    expect(isOutOfScope(deep, helmRelease(nested(levels - 1, 'a')))).toBe(true);
  });
});

it('the largest allowed depth is accepted', () => {
  expect(limitDenial(helmRelease(nested(LIMITS.nesting - 1, 'a')), undefined, ANY_REF)).toBeUndefined();
  expect(stored(helmRelease(nested(LIMITS.nesting - 1, 'a'))).spec?.suspend).toBe(true);
});
