import { describe, expect, it } from 'vitest';
import { formatApprovals } from '../../../../core/approval/approvalRecord.ts';
import { LIMIT_OF_GATES } from '../../../../core/gate/closedGates.ts';
import { ANY_REF } from '../../../../core/gate/gateRefs.ts';
import { LIMITS } from '../../../../core/limits.ts';
import {
  droppedGates,
  evaluateGatesOfVersion,
  gatesOfRollouts,
  mayDropGates,
} from '../../../../core/rollout/evaluation/gatesOfRollout.ts';
import type { RolloutContext } from '../../../../core/rollout/evaluation/observed.ts';
import { objectOf } from '../../../support/objects.ts';

const selecting = (name: string, labelSelector: object = {}) =>
  objectOf('Gate', `apps/${name}`, { spec: { default: 'closed', selects: { kinds: ['Rollout'], labelSelector } } });
const rollout = (names: string[] = [], labels: Record<string, string> = {}) =>
  objectOf('Rollout', 'apps/app', {
    metadata: { labels },
    spec: { releasesImagePolicy: {}, gates: names.map((name) => ({ name })) },
  });
const binding = (gate: string, selected?: true) =>
  objectOf('FluxBinding', 'apps/b', {
    spec: {
      target: { apiVersion: 'v1', kind: 'Kustomization', name: 'app', uid: 'u' },
      fields: [{ rollout: 'app' }],
      gates: [{ namespace: 'apps', gate, ...(selected && { selected }) }],
    },
  });
const seen = (...gates: ReturnType<typeof selecting>[]) => ({ gates, namespaceLabels: {} });
const names = ({ refs }: { refs: { name: string }[] }) => refs.map(({ name }) => name);

describe('the Gates to pass', () => {
  it('are those named, those that select, and those of bound objects: each once, in one order', () => {
    const all = gatesOfRollouts(
      [rollout(['z', 'b'])],
      [binding('b'), binding('a')],
      seen(selecting('s'), selecting('z')),
      ANY_REF,
    );
    expect(names(all)).toEqual(['a', 'b', 's', 'z']);
  });

  it('have a name and a namespace, which statuses refer to', () => {
    expect(gatesOfRollouts([rollout()], [binding('a', true)], seen(), ANY_REF).refs).toEqual([
      { namespace: 'apps', name: 'a' },
    ]);
  });

  it('at the limit are evaluated, beyond it they count as one closed Gate', () => {
    const some = (count: number) => {
      const gates = Array.from({ length: count - 1 }, (_, i) => selecting(`g-${i}`));
      return gatesOfRollouts([rollout(['named'])], [], seen(...gates), ANY_REF);
    };
    expect(some(LIMITS.requiredGates).refs).toHaveLength(LIMITS.requiredGates);
    expect(some(LIMITS.requiredGates + 1)).toEqual({ refs: [], limit: LIMIT_OF_GATES });
  });

  it('count as one closed Gate where not all that may select were listed', () => {
    expect(gatesOfRollouts([rollout()], [], { ...seen(), isTruncated: true }, ANY_REF).limit).toBe(LIMIT_OF_GATES);
  });
});

it('an approval is recorded, however many Gates that are open for everything come before its own', () => {
  const now = Date.parse('2026-03-04T10:00:00Z');
  const app = objectOf('Rollout', 'apps/app', { metadata: { uid: 'u' }, spec: { releasesImagePolicy: {} } });
  const given = [{ version: '1.2.0', by: 'alice', at: now, rollout: 'apps/app', uid: 'u' }];
  const approved = objectOf('Gate', 'apps/z', {
    metadata: { annotations: { 'gate.fluxcd.io/approvals': formatApprovals({ given, changes: [] })! } },
    spec: { default: 'closed', approvals: { required: 1 } },
  });
  const open = Array.from({ length: 10 }, (_, i) =>
    objectOf('Gate', `apps/open-${i}`, { spec: { default: 'opened' } }),
  );
  const all = [...open, approved];
  const observed = {
    rollout: app,
    bindings: [],
    requiredGates: { refs: all.map(({ metadata: { name = '' } }) => ({ namespace: 'apps', name })), limit: undefined },
    gates: new Map(all.map((gate) => [`apps/${gate.metadata.name}`, gate])),
  };
  const context = { observed, state: { history: [], authors: [] }, now } as unknown as RolloutContext;
  expect(evaluateGatesOfVersion(context, '1.2.0').permissions).toMatchObject([{ gate: 'apps/z', by: 'alice' }]);
});

describe('the Gates that a write drops', () => {
  const gold = { matchLabels: { tier: 'gold' } };
  it.each<[string, ReturnType<typeof rollout>, ReturnType<typeof rollout>, string[]]>([
    ['by a name', rollout([]), rollout(['named']), ['named']],
    ['by a label', rollout([], { tier: 'silver' }), rollout([], { tier: 'gold' }), ['s']],
    ['by both', rollout(), rollout(['named'], { tier: 'gold' }), ['named', 's']],
    ['not where it is named from now on', rollout(['s']), rollout([], { tier: 'gold' }), []],
    ['not where it selects from now on', rollout([], { tier: 'gold' }), rollout(['s']), []],
    ['not by another label', rollout([], { tier: 'gold', a: 'b' }), rollout([], { tier: 'gold' }), []],
  ])('%s', (_, after, before, expected) => {
    expect(names(droppedGates(after, before, seen(selecting('s', gold)), ANY_REF))).toEqual(expected);
    if (expected.length > 0) expect(mayDropGates(after, before, ANY_REF)).toBe(true);
  });

  it('are not read where neither names nor labels change', () => {
    expect(mayDropGates(rollout(['a', 'b'], { x: 'y' }), rollout(['a'], { x: 'y' }), ANY_REF)).toBe(false);
  });

  it('may be any where not all that may select were listed and a label changes', () => {
    const some = { ...seen(), isTruncated: true };
    expect(droppedGates(rollout(), rollout([], { x: 'y' }), some, ANY_REF).limit).toBe(LIMIT_OF_GATES);
    expect(droppedGates(rollout([], { x: 'y' }), rollout([], { x: 'y' }), some, ANY_REF)).toEqual({ refs: [] });
  });
});
