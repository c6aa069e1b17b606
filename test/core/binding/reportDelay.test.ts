import { expect, it } from 'vitest';
import { BYPASSED_GATES } from '../../../api/annotations.ts';
import type { FluxBindingSpec, Gate, Rollout } from '../../../api/types.ts';
import { makeBinding, type Report, reportInputsOf } from '../../../core/binding/bindingSpec.ts';
import { nextBinding } from '../../../core/binding/decorate.ts';
import { annotate } from '../../../core/kube/annotate.ts';
import { deployment, gate, kustomization, NOW, rollout } from '../admission/objects.ts';

const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const FREEZE = { namespace: 'shop', name: 'freeze' };
const at = (id: number, version: string) => [{ rollout: 'my-app', id, version, uid: 'uid-my-app' }];
const one = at(1, '1.0.0');
const two = at(2, '1.1.0');
const inReport = { namespace: FREEZE.namespace, gate: FREEZE.name };
const open = [{ ...inReport, opened: true, message: 'Gate opened by default' }];
const shut = [{ ...inReport, opened: false, message: 'Gate closed by default' }];

/** The age of its newest deployment, with id 2. */
function deployed(secondsAgo: number): Rollout {
  const found = rollout('my-app', '1.1.0', '1.0.0');
  found.status!.history![0]!.timestamp = ago(secondsAgo);
  return found;
}

/** The report of its own status, opened or closed since then. */
function gateOf(opens: boolean, status: 'True' | 'False', secondsAgo: number): Gate {
  const condition = { type: 'Opened', status, reason: 'x', message: '', lastTransitionTime: ago(secondsAgo) };
  return { ...gate('shop/freeze', opens ? { default: 'opened' } : {}), status: { conditions: [condition] } };
}

/** With a bypass of the closed Gate for its newest deployment. */
function granted(found: Rollout): Rollout {
  return annotate(found, BYPASSED_GATES, `1.1.0 (2) ${ago(0)}: shop/freeze`);
}

interface Row {
  title: string;
  rollout?: Rollout;
  gate?: Gate;
  /** The stored report; undefined: no FluxBinding exists. */
  before?: Report | undefined;
  /** Other fields of the stored spec. */
  other?: Partial<FluxBindingSpec>;
  report: Report | undefined;
  /** Seconds until the next sync. */
  requeueIn?: number;
}

/** A binding without a new report yet: the earlier report stays for some seconds. */
const later = (before: Report, requeueIn: number) => ({ before, report: before, requeueIn });
const NONE: Report = { rollouts: [{ rollout: 'my-app' }] };

const rows: Row[] = [
  { title: 'a deployment that was just made, later', rollout: deployed(0), ...later({ rollouts: one }, 15) },
  {
    title: 'one that Flux has not applied within 15 seconds',
    rollout: deployed(15),
    before: { rollouts: one },
    report: { rollouts: two },
  },
  {
    title: 'one of tomorrow: a clock is wrong',
    rollout: deployed(-86_400),
    before: { rollouts: one },
    report: { rollouts: two },
  },
  { title: 'the first one, which was just made, later', rollout: deployed(0), ...later(NONE, 15) },
  { title: 'nothing new', rollout: deployed(1), before: { rollouts: two }, report: { rollouts: two } },
  { title: 'the newest deployment, with the FluxBinding itself', rollout: deployed(1), report: { rollouts: two } },
  { title: 'nothing where a Rollout is missing from the inputs', before: { rollouts: one }, report: undefined },
  {
    title: 'a Gate whose own status does not show it yet, later',
    gate: gateOf(false, 'True', 600),
    ...later({ gates: open }, 15),
  },
  {
    title: 'a Gate that closed two seconds ago, later',
    gate: gateOf(false, 'False', 2),
    ...later({ gates: open }, 13),
  },
  {
    title: 'a Gate that closed long ago',
    gate: gateOf(false, 'False', 60),
    before: { gates: open },
    report: { gates: shut },
  },
  {
    title: 'a deployment and a Gate, when both are due',
    rollout: deployed(4),
    gate: gateOf(true, 'True', 1),
    ...later({ rollouts: one, gates: shut }, 14),
  },
  {
    title: 'a bypass at once',
    rollout: granted(deployed(1)),
    gate: gateOf(false, 'False', 60),
    before: { rollouts: one, gates: shut },
    report: { rollouts: two, gates: shut, bypassing: two },
    // The end of the bypass.
    requeueIn: 3600,
  },
  {
    title: 'a Gate together with a wait for the applier: at once',
    gate: gateOf(true, 'True', 1),
    before: { gates: shut },
    other: { awaits: { namespace: 'shop', name: 'apps', since: ago(1) } },
    report: { gates: open },
  },
];

it.each(rows)('a FluxBinding gets the report of $title', ({ rollout, gate, other, report, requeueIn, ...row }) => {
  const isManaged = rollout !== undefined || gate === undefined;
  const object = kustomization({
    deployed: deployment('my-app', 1, '1.0.0'),
    ...(!isManaged && { annotations: {} }),
    status: { lastAppliedRevision: '1.0.0@sha256:1' },
  });
  const wanted = makeBinding(object, { refs: gate ? [FREEZE] : [], problems: [] }, undefined, false)!;
  const spec = row.before && { ...wanted.spec!, ...other, report: row.before };
  const observed = spec && { ...wanted, spec };
  const answer = nextBinding(wanted, observed, reportInputsOf(rollout ? [rollout] : [], gate ? [gate] : []), NOW);
  expect(answer.binding.spec?.report).toEqual(report);
  expect(answer.requeueAt).toBe(requeueIn === undefined ? undefined : NOW + requeueIn * 1000);
});
