/** docs/reference/writes.md, W23 and W24: the spec and suspension of a Kustomization after its Gates have opened. */

import { describe } from 'vitest';
import { deployment, type KustomizationParts, kustomization, NOW } from './objects.ts';
import {
  applier,
  deleting,
  FROZEN,
  frozen,
  GATED,
  GIT,
  git,
  itDecides,
  MEMORY,
  NAME_LABEL,
  NAMESPACE_LABEL,
  OWNER,
  openGate,
  type Row,
  resumedAlone,
  row,
  STATE,
} from './writes.ts';

const at110 = { deployed: deployment('my-app', 2, '1.1.0'), substitute: { APP: '1.1.0' } };
const GATES = { 'gate.fluxcd.io/gates': 'freeze' };
const OPENING = { [STATE]: 'opening: 2026-03-04T10:00:00Z' };
const SELF = { [NAME_LABEL]: 'web', [NAMESPACE_LABEL]: 'shop' };

/** Frozen, and applied by another Kustomization. */
const owned = (annotations: Record<string, string>, parts: KustomizationParts = {}) =>
  frozen({ labels: OWNER, annotations, ...parts });
/** Opened again, with the newest deployment. */
const opened = (parts: KustomizationParts = {}) =>
  kustomization({ annotations: { ...GATED, [STATE]: 'open' }, deployed: at110.deployed, ...parts });
/** The write of the decorator that should resume. */
const alone = (title: string, rest: Partial<Row>): Row => ({ title, ...resumedAlone, ...rest });
/** The first write after the opening of an object that another Kustomization applies. */
const waits = (title: string, now: number, since: string): Row => ({
  title,
  old: owned(GATES),
  object: owned({ ...GATES, [STATE]: 'open' }),
  gates: [openGate],
  now,
  stored: owned({ ...GATES, [STATE]: `opening: ${since}` }, at110),
});

describe('one write of a gated Kustomization at the opening', () => {
  itDecides([
    row(
      'opening restores suspend, and the managed field changes in the same write',
      frozen({ annotations: { [MEMORY]: 'false' } }),
      frozen({ annotations: { [MEMORY]: 'false', [STATE]: 'open' } }),
      { gates: [openGate], stored: opened({ spec: { suspend: false } }) },
    ),
    waits('an object that a Kustomization applies waits for its next apply', NOW, '2026-03-04T10:00:00Z'),
    waits(
      'to the millisecond: what its owner applied earlier in that second was before the opening',
      NOW + 364,
      '2026-03-04T10:00:00.364Z',
    ),
    row(
      'and is resumed in it, with the new spec',
      owned(OPENING, { managedFields: [git('spec.path')], spec: { path: 'old' } }),
      owned(OPENING, { managedFields: [git('spec.path')], spec: { path: 'new' } }),
      {
        gates: [openGate],
        fieldManager: GIT,
        now: NOW + 5000,
        stored: opened({ labels: OWNER, managedFields: [git('spec.path')], spec: { path: 'new' } }),
      },
    ),
    row(
      "Git's own suspend counts, not what is remembered",
      owned({ [MEMORY]: 'false' }, { managedFields: [git('spec.suspend')] }),
      owned({ [MEMORY]: 'false' }, { managedFields: [git('spec.suspend')], spec: { suspend: true } }),
      {
        gates: [openGate],
        fieldManager: GIT,
        stored: opened({ labels: OWNER, managedFields: [git('spec.suspend')], spec: { suspend: true } }),
      },
    ),
    row(
      'an export of an earlier freeze does not resume what a person has suspended since',
      opened({ ...at110, spec: { suspend: true } }),
      frozen({ ...at110, annotations: { [MEMORY]: 'false' } }),
      { gates: [openGate], stored: 'old' },
    ),
    alone('nobody resumes it earlier by saying that it is open', { now: NOW + 119_000, stored: 'old' }),
    alone('another write while it waits does not resume it', {
      object: resumedAlone.old,
      applier: applier('True', 'ReconciliationSucceeded'),
      now: NOW + 3_600_000,
      stored: 'old',
    }),
    alone('when it has no owner any more, it is resumed alone after two minutes', { now: NOW + 120_000 }),
    alone(
      'when its owner has applied everything since, and not this, it is resumed at once: it may be on its way out',
      { applier: applier('False', 'PruneFailed'), now: NOW + 1000 },
    ),
    alone('while its owner fails it waits, however long: it would run the old spec on the new artifact', {
      applier: applier('False', 'BuildFailed'),
      now: NOW + 3_600_000,
      stored: 'old',
    }),
    alone('while its owner has not come to it, it waits, however long', {
      applier: kustomization({ annotations: {} }),
      now: NOW + 3_600_000,
      stored: 'old',
    }),
    row(
      'a Kustomization that applies itself is resumed at once: it could not do it',
      frozen({ labels: SELF }),
      frozen({ labels: SELF, annotations: { [STATE]: 'open' } }),
      { gates: [openGate], stored: opened({ labels: SELF }) },
    ),
    row(
      'an object that is being deleted is not suspended any more: it would leave behind what it applied',
      deleting({ ...GATED, [STATE]: 'open' }),
      deleting({ ...GATED, [STATE]: 'closed: shop/freeze', note: '' }),
      { stored: deleting({ ...GATED, [STATE]: 'open', note: '' }) },
    ),
    row(
      'nor once the deployment is over for which it runs behind the closed Gate',
      deleting({ ...GATED, [MEMORY]: 'unset', [STATE]: 'bypassing: shop/freeze' }),
      deleting({ ...GATED, [MEMORY]: 'unset', [STATE]: 'closed: shop/freeze', note: '' }),
      { stored: deleting({ ...GATED, [MEMORY]: 'unset', [STATE]: 'bypassing: shop/freeze', note: '' }) },
    ),
    row(
      'nor by a PUT without deletionTimestamp, which the API server restores',
      deleting({ ...GATED, [STATE]: 'open' }),
      opened({ annotations: { ...GATED, [STATE]: 'open', note: '' } }),
      { stored: 'sent' },
    ),
    row(
      'a new object with a deletionTimestamp is suspended: the API server drops that time',
      undefined,
      deleting(GATED),
      { stored: deleting(FROZEN, { suspend: true }), warning: /is suspended/ },
    ),
  ]);
});
