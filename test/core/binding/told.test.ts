import { expect, it } from 'vitest';
import type { FluxBindingSpec, Gate, Rollout } from '../../../api/types.ts';
import { kept, type Said, sentOf } from '../../../core/binding/said.ts';
import { bindingOf } from '../../../core/binding/spec.ts';
import { toldBinding } from '../../../core/binding/told.ts';
import { deployment, gate, kustomization, NOW, rollout } from '../hold/objects.ts';

const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const FREEZE = { namespace: 'shop', name: 'freeze' };
const at = (id: number, version: string) => [{ rollout: 'my-app', id, version, uid: 'uid-my-app' }];
const one = at(1, '1.0.0');
const two = at(2, '1.1.0');
const open = [{ ...FREEZE, opened: true, message: 'Gate opened by default' }];
const shut = [{ ...FREEZE, opened: false, message: 'Gate closed by default' }];

/** Its newest deployment, the second, is so old. */
function deployed(secondsAgo: number): Rollout {
  const found = rollout('my-app', '1.1.0', '1.0.0');
  found.status!.history![0]!.timestamp = ago(secondsAgo);
  return found;
}

/** Its own status says that it is opened or closed since then. */
function gateOf(opens: boolean, status: 'True' | 'False', secondsAgo: number): Gate {
  const condition = { type: 'Opened', status, reason: 'x', message: '', lastTransitionTime: ago(secondsAgo) };
  return { ...gate('shop/freeze', opens ? { default: 'opened' } : {}), status: { conditions: [condition] } };
}

interface Row {
  says: string;
  rollout?: Rollout;
  gate?: Gate;
  /** What the binding was told before; undefined: there is none. */
  before?: Said | undefined;
  /** What else the binding said of the object. */
  other?: Partial<FluxBindingSpec>;
  told: Said | undefined;
  /** Seconds until the decorator looks again. */
  looksIn?: number;
}

const rows: Row[] = [
  {
    says: 'a deployment that was just made, later',
    rollout: deployed(0),
    before: { rollouts: one },
    told: { rollouts: one },
    looksIn: 600,
  },
  {
    says: 'one of ten seconds ago, later',
    rollout: deployed(10),
    before: { rollouts: one },
    told: { rollouts: one },
    looksIn: 590,
  },
  {
    says: 'one that should have been applied by now',
    rollout: deployed(600),
    before: { rollouts: one },
    told: { rollouts: two },
  },
  {
    says: 'one of tomorrow: a clock is wrong',
    rollout: deployed(-86_400),
    before: { rollouts: one },
    told: { rollouts: two },
  },
  {
    says: 'one of a Rollout that had deployed nothing, a little later',
    rollout: deployed(1),
    before: { rollouts: [{ rollout: 'my-app' }] },
    told: { rollouts: [{ rollout: 'my-app' }] },
    looksIn: 59,
  },
  {
    says: 'one of a Rollout that had deployed nothing, of a minute ago',
    rollout: deployed(60),
    before: { rollouts: [{ rollout: 'my-app' }] },
    told: { rollouts: two },
  },
  {
    says: 'one of another Rollout of the name',
    rollout: deployed(620),
    before: { rollouts: [{ ...two[0]!, uid: 'another' }] },
    told: { rollouts: two },
  },
  {
    says: 'with an arrival',
    rollout: deployed(1),
    before: { rollouts: one },
    other: { observed: {} },
    told: { rollouts: two },
  },
  { says: 'nothing new', rollout: deployed(1), before: { rollouts: two }, told: { rollouts: two } },
  { says: 'what the first binding says', rollout: deployed(1), told: { rollouts: two } },
  { says: 'nothing, where the decorator is not sent the Rollout', before: { rollouts: one }, told: undefined },
  {
    says: 'of a Gate whose own status does not say so yet, later',
    gate: gateOf(false, 'True', 600),
    before: { gates: open },
    told: { gates: open },
    looksIn: 15,
  },
  {
    says: 'of a Gate that closed two seconds ago, later',
    gate: gateOf(false, 'False', 2),
    before: { gates: open },
    told: { gates: open },
    looksIn: 13,
  },
  {
    says: 'of one that closed long ago',
    gate: gateOf(false, 'False', 60),
    before: { gates: open },
    told: { gates: shut },
  },
  { says: 'of one that is required only now', gate: gateOf(false, 'False', 1), before: {}, told: { gates: shut } },
  {
    says: 'of a deployment and a Gate, when the first of them is due',
    rollout: deployed(1),
    gate: gateOf(true, 'True', 1),
    before: { rollouts: one, gates: shut },
    told: { rollouts: one, gates: shut },
    looksIn: 14,
  },
  {
    says: 'of a wait for the applier with what goes with it',
    gate: gateOf(true, 'True', 1),
    before: { gates: shut },
    other: { awaits: { namespace: 'shop', name: 'apps', since: ago(1) } },
    told: { gates: open },
  },
];

it.each(rows)('a FluxBinding is told $says', ({ rollout, gate, other, told, looksIn, ...row }) => {
  const isPinned = rollout !== undefined || gate === undefined;
  const object = kustomization({
    deployed: deployment('my-app', 1, '1.0.0'),
    ...(!isPinned && { annotations: {} }),
  });
  const wanted = bindingOf(object, { gates: gate ? [FREEZE] : [], problems: [] }, undefined)!;
  const spec = row.before && { ...wanted.spec!, ...other, said: kept(row.before) };
  const observed = spec && { ...wanted, spec };
  const answer = toldBinding(wanted, observed, sentOf(rollout ? [rollout] : [], gate ? [gate] : []), NOW);
  expect(answer.binding.spec?.said).toEqual(told && kept(told));
  expect(answer.lookAt).toBe(looksIn === undefined ? undefined : NOW + looksIn * 1000);
});
