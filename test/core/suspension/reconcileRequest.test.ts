/**
 * When hooks request another apply from an object's Kustomization, so that the object is resumed:
 * docs/adr/0006-resume-with-the-applier.md.
 */
import { describe, expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxBinding } from '../../../api/types.ts';
import { formatInstant } from '../../../core/kube/time.ts';
import { reconcileRequest } from '../../../core/suspension/applier.ts';
import { kustomization, NOW } from '../admission/objects.ts';

/** Milliseconds after 10:00:00. */
type Instant = number;

const at = (instant: Instant) => formatInstant(NOW + instant);

const waiting = (since: string) => ({ spec: { awaits: { namespace: 'shop', name: 'web', since } } }) as FluxBinding;

const rows: { title: string; openings: Instant[]; asked?: Instant; handled?: Instant; asks?: Instant }[] = [
  { title: 'nobody waits', openings: [] },
  { title: 'one waits', openings: [100], asks: 100 },
  { title: 'several wait: the newest opening', openings: [100, 300, 200], asks: 300 },
  { title: 'it was asked and has not come to it yet', openings: [100], asked: 100 },
  { title: 'another opens meanwhile: that apply is still to end', openings: [100, 200], asked: 100 },
  { title: 'the apply was over when another opened', openings: [200], asked: 100, handled: 100, asks: 200 },
  { title: 'the apply for the newest is over, an older one is late', openings: [100], asked: 200, handled: 200 },
  { title: 'somebody had an apply after the opening', openings: [100], asked: 500, handled: 500 },
  {
    title: 'somebody with a clock ahead had an apply before it',
    openings: [100],
    asked: 30_000,
    handled: 30_000,
    asks: 100,
  },
  { title: 'it was asked, came, and the annotation was taken away', openings: [100], handled: 100 },
];

describe('the owner gets a request to apply', () => {
  it.each(rows)('$title', ({ openings, asked, handled, asks }) => {
    const owner = kustomization({
      annotations: { ...(asked !== undefined && { [RECONCILE_REQUESTED_AT]: at(asked) }) },
      status: { ...(handled !== undefined && { lastHandledReconcileAt: at(handled) }) },
    });
    const bindings = openings.map((opening) => waiting(at(opening)));
    expect(reconcileRequest(owner, bindings, NOW + 1000)).toBe(asks === undefined ? undefined : at(asks));
  });

  it('and a text that is no time, once handled, is no answer to it', () => {
    const owner = kustomization({
      annotations: { [RECONCILE_REQUESTED_AT]: 'now' },
      status: { lastHandledReconcileAt: 'now' },
    });
    expect(reconcileRequest(owner, [waiting(at(100))], NOW + 1000)).toBe(at(100));
  });
});
