/** A binding's messages about the applier for which its object waits: one for each cause, not for each retry. */
import { describe, expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import { formatInstant, parseTime } from '../../../core/kube/time.ts';
import { type ApplierWait, applierWaitOf, applierWaitText, resumedAloneAt } from '../../../core/suspension/applier.ts';
import { kustomization, NOW } from '../admission/objects.ts';

const SINCE = formatInstant(NOW);
const AWAITED = { namespace: 'flux-system', name: 'apps', since: SINCE };
const MINUTE = 60_000;
const APPLIED = { apiVersion: 'apps.example/v1', kind: 'App', namespace: 'shop', name: 'api' };

const ready = (status: string, reason: string, handled?: string) =>
  kustomization({
    annotations: { [RECONCILE_REQUESTED_AT]: SINCE },
    status: {
      conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '', observedGeneration: 3 }],
      ...(handled && { lastHandledReconcileAt: handled }),
    },
  });
const failing = ready('False', 'BuildFailed', SINCE);
const retrying = ready('Unknown', 'Progressing', SINCE);
const done = ready('True', 'ReconciliationSucceeded', SINCE);
const suspended = { ...done, spec: { ...done.spec, suspend: true } };

/** The message after each of these, a minute apart. */
function said(...appliers: (typeof done | undefined)[]): ApplierWait[] {
  const all: ApplierWait[] = [];
  for (const [i, applier] of appliers.entries())
    all.push(applierWaitOf(AWAITED, all.at(-1), applier, APPLIED, NOW + i * MINUTE)!);
  return all;
}

describe('an object that waits for its Kustomization', () => {
  it('and its retries: nothing changes while it tries, fails and tries again', () => {
    const [first, ...later] = said(failing, retrying, failing, retrying, failing);
    expect(first).toEqual({ ...AWAITED, state: 'Failing', reason: 'BuildFailed', stateSince: SINCE });
    expect(later).toEqual(later.map(() => first));
  });

  it('is resumed at once when an attempt succeeds without it', () => {
    const last = said(failing, retrying, done).at(-1)!;
    expect(last.state).toBe('Done');
    expect(resumedAloneAt(last)).toBe(NOW + 2 * MINUTE);
  });

  it('is not resumed at once when a user suspends the failing applier: the two minutes start then', () => {
    const last = said(failing, failing, failing, failing, failing, suspended).at(-1)!;
    expect(last.state).toBe('Suspended');
    expect(resumedAloneAt(last)).toBe(NOW + 7 * MINUTE);
  });

  it('begins anew with the next opening, or with another Kustomization', () => {
    const [before] = said(failing);
    for (const other of [{ since: formatInstant(NOW + MINUTE) }, { name: 'platform' }, { namespace: 'team' }]) {
      const found = applierWaitOf({ ...AWAITED, ...other }, before, retrying, APPLIED, NOW + MINUTE);
      expect(found).toEqual({ ...AWAITED, ...other, state: 'Requested', stateSince: formatInstant(NOW + MINUTE) });
    }
  });
});

it.each([
  [failing, "That Kustomization's last attempt failed: BuildFailed"],
  [
    done,
    'That Kustomization has applied everything since the opening, except this object. The object is resumed without waiting for it at 2026-03-04T10:00:00Z',
  ],
  [suspended, 'That Kustomization is suspended. The object is resumed without waiting for it at 2026-03-04T10:02:00Z'],
  [
    undefined,
    'That Kustomization does not exist. The object is resumed without waiting for it at 2026-03-04T10:02:00Z',
  ],
  [
    { ...done, metadata: { ...done.metadata, deletionTimestamp: SINCE } },
    'That Kustomization is being deleted. The object is resumed without waiting for it at 2026-03-04T10:00:00Z',
  ],
])('people read which one, why, and until when: %#', (applier, why) => {
  const [awaits] = said(applier);
  expect(parseTime(awaits!.stateSince)).toBe(NOW);
  expect(applierWaitText(awaits!)).toMatch(/^until Kustomization 'flux-system\/apps' applies it again\. /);
  expect(applierWaitText(awaits!)).toContain(why);
});
