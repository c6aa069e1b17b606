import { expect, it } from 'vitest';
import type { FluxBindingStatus, Gate } from '../../../api/types.ts';
import { toldLater } from '../../../core/binding/later.ts';
import { bindingOf } from '../../../core/binding/spec.ts';
import { gate, kustomization, NOW, rollout } from '../hold/objects.ts';

const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const pin = (id: number, state: 'Waiting' | 'Applied' | 'Missing') => ({
  rollout: 'my-app',
  variable: 'APP',
  id,
  state,
});
const before: FluxBindingStatus = { deployed: 'x', pins: [pin(1, 'Applied')] };
const waits: FluxBindingStatus = { deployed: 'y', pins: [pin(2, 'Waiting')] };
const freeze = (opened: boolean) => ({ namespace: 'shop', name: 'freeze', opened });

/** Its newest deployment, the second, is so old. */
function deployed(secondsAgo: number) {
  const found = rollout('my-app', '1.1.0', '1.0.0');
  found.status!.history![0]!.timestamp = ago(secondsAgo);
  return found;
}

/** Its own status says that it is opened or closed since then. */
function since(status: 'True' | 'False', secondsAgo: number): Gate {
  const condition = { type: 'Opened', status, reason: 'x', message: '', lastTransitionTime: ago(secondsAgo) };
  return { ...gate('shop/freeze'), status: { conditions: [condition] } };
}

interface Row {
  says: string;
  before?: FluxBindingStatus | undefined;
  next: FluxBindingStatus;
  deployedAgo?: number;
  gate?: Gate;
  informed?: boolean;
  seconds: number | undefined;
}

const rows: Row[] = [
  { says: 'a deployment that was just made', next: waits, deployedAgo: 0, seconds: 30 },
  { says: 'one of ten seconds ago', next: waits, deployedAgo: 10, seconds: 20 },
  { says: 'one that should have been applied by now', next: waits, deployedAgo: 30, seconds: undefined },
  { says: 'one of tomorrow: a clock is wrong', next: waits, deployedAgo: -86_400, seconds: undefined },
  { says: 'an arrival', before: waits, next: { pins: [pin(2, 'Applied')] }, deployedAgo: 1, seconds: undefined },
  { says: 'a Rollout that is gone', next: { pins: [pin(2, 'Missing')] }, deployedAgo: 1, seconds: undefined },
  { says: 'nothing', next: before, deployedAgo: 1, seconds: undefined },
  { says: 'the first status', before: undefined, next: waits, deployedAgo: 1, seconds: undefined },
  {
    says: 'anything, while the object waits for this status',
    next: waits,
    deployedAgo: 1,
    informed: false,
    seconds: undefined,
  },
  {
    says: 'a Gate whose own status does not say so yet',
    before: { gates: [freeze(true)] },
    next: { gates: [freeze(false)] },
    gate: since('True', 600),
    seconds: 5,
  },
  {
    says: 'a Gate that closed two seconds ago',
    before: { gates: [freeze(true)] },
    next: { gates: [freeze(false)], heldSince: ago(0) },
    gate: since('False', 2),
    seconds: 3,
  },
  {
    says: 'one that closed long ago',
    before: { gates: [freeze(true)] },
    next: { gates: [freeze(false)] },
    gate: since('False', 60),
    seconds: undefined,
  },
  {
    says: 'one that is required only now',
    before: {},
    next: { gates: [freeze(false)] },
    gate: since('False', 1),
    seconds: undefined,
  },
  {
    says: 'a deployment and a Gate: whichever is due first',
    before: { ...before, gates: [freeze(false)] },
    next: { ...waits, gates: [freeze(true)] },
    deployedAgo: 1,
    gate: since('True', 1),
    seconds: 4,
  },
  {
    says: 'a wait for the applier, which the decorator goes by',
    before: { gates: [freeze(false)] },
    next: {
      gates: [freeze(true)],
      awaits: { namespace: 'shop', name: 'apps', since: ago(1), state: 'Asked', stateSince: ago(1) },
    },
    gate: since('True', 1),
    seconds: undefined,
  },
];

it.each(rows)(
  'a FluxBinding that has to say: $says',
  ({ next, deployedAgo, gate, informed = true, seconds, ...row }) => {
    const status = 'before' in row ? row.before : before;
    const binding = bindingOf(kustomization(), { gates: [], problems: [] }, undefined)!;
    const sent = {
      rollouts: new Map(deployedAgo === undefined ? [] : [['my-app', deployed(deployedAgo)]]),
      gates: new Map(gate ? [['shop/freeze', gate]] : []),
    };
    const asked = { ...binding, spec: { ...binding.spec!, ...(informed && { informed }) }, ...(status && { status }) };
    expect(toldLater(asked, next, sent, NOW)).toBe(seconds);
  },
);
