/** Writes of a Kustomization that requires Gates, as table rows, with the expected decisions. */

import { expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { Gate } from '../../../api/types.ts';
import type { FluxWrite } from '../../../core/admission/fluxWrite.ts';
import {
  decide,
  deployment,
  gate,
  gatesByName,
  type KustomizationParts,
  kustomization,
  NOW,
  owner,
  rollout,
  rolloutsByName,
} from './objects.ts';

const MANAGED = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
export const GATED = { ...MANAGED, 'gate.fluxcd.io/gates': 'freeze' };
export const MEMORY = 'gate.fluxcd.io/suspended';
export const STATE = 'gate.fluxcd.io/state';
export const REASON = 'gate.fluxcd.io/bypass-reason';
export const BY = 'gate.fluxcd.io/bypassed-by';
export const MARK = 'gate.fluxcd.io/selected-by';
export const GIT = 'kustomize-controller';
export const NAME_LABEL = 'kustomize.toolkit.fluxcd.io/name';
export const NAMESPACE_LABEL = 'kustomize.toolkit.fluxcd.io/namespace';
export const OWNER = { [NAME_LABEL]: 'apps', [NAMESPACE_LABEL]: 'flux-system' };

/** The stored object while Gate shop/freeze is closed. */
export const FROZEN = { ...GATED, [MEMORY]: 'unset', [STATE]: 'closed: shop/freeze' };
export const frozen = (parts: KustomizationParts = {}): FluxObject =>
  kustomization({
    deployed: deployment('my-app', 1, '1.0.0'),
    substitute: { APP: '1.0.0' },
    ...parts,
    annotations: { ...FROZEN, ...parts.annotations },
    spec: { suspend: true, ...parts.spec },
  });
/** Field owners: Git owns the spec, by one server-side apply. */
export const git = (...paths: string[]) => ({ ...owner('Apply', ...paths), manager: GIT });
export const kubectl = (...paths: string[]) => ({ ...owner('Update', ...paths), manager: 'kubectl-edit' });

export const closedGate = gate('shop/freeze');
export const openGate = gate('shop/freeze', { default: 'opened' });

/** The Kustomization flux-system/apps, which has handled the request to apply of the opening. */
export const applier = (status: string, reason: string): FluxObject =>
  kustomization({
    annotations: { [RECONCILE_REQUESTED_AT]: '2026-03-04T10:00:00Z' },
    status: {
      lastHandledReconcileAt: '2026-03-04T10:00:00Z',
      conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '', observedGeneration: 3 }],
    },
  });

/** The decorator's annotation that ends the object's wait. */
export const resumedAlone = {
  old: frozen({
    labels: OWNER,
    annotations: { [STATE]: 'opening: 2026-03-04T10:00:00Z' },
    deployed: deployment('my-app', 2, '1.1.0'),
    substitute: { APP: '1.1.0' },
  }),
  object: frozen({
    labels: OWNER,
    annotations: { [STATE]: 'open' },
    deployed: deployment('my-app', 2, '1.1.0'),
    substitute: { APP: '1.1.0' },
  }),
  gates: [openGate],
  stored: kustomization({
    labels: OWNER,
    annotations: { ...GATED, [STATE]: 'open' },
    deployed: deployment('my-app', 2, '1.1.0'),
  }),
};

export interface Row {
  title: string;
  old?: FluxObject;
  object: FluxObject;
  gates?: Gate[];
  fieldManager?: string;
  user?: string;
  bypass?: FluxWrite['bypass'];
  applier?: FluxObject;
  namespaceLabels?: Record<string, string>;
  now?: number;
  /** The stored object; 'old' for the old one. */
  stored?: FluxObject | 'old' | 'sent';
  warning?: RegExp;
  denial?: RegExp;
}

export const row = (title: string, old: FluxObject | undefined, object: FluxObject, rest: Partial<Row>): Row => {
  return { title, ...(old && { old }), object, ...rest };
};

export const without = (object: FluxObject, ...annotations: string[]): FluxObject => {
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => !annotations.includes(key));
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
};

export function deleting(annotations: Record<string, string>, spec: KustomizationParts['spec'] = {}): FluxObject {
  const object = kustomization({ annotations, deployed: deployment('my-app', 2, '1.1.0'), spec });
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-03-04T09:59:00Z' } };
}

export const itDecides = (rows: readonly Row[]) =>
  it.each(rows)('$title', (row) => {
    const write: Parameters<typeof decide>[0] = {
      object: row.object,
      old: row.old,
      context: {
        rollouts: rolloutsByName(rollout('my-app', '1.1.0', '1.0.0')),
        gates: gatesByName(...(row.gates ?? [closedGate])),
        ...(row.namespaceLabels && { namespaceLabels: row.namespaceLabels }),
        now: row.now ?? NOW,
        applier: row.applier,
      },
      user: row.user ?? 'developer',
      fieldManager: row.fieldManager,
      bypass: row.bypass,
    };
    const outcome = decide(write);
    if (row.denial || outcome.denial !== undefined) {
      expect(outcome.denial).toMatch(row.denial ?? /no denial expected/);
      return;
    }
    const stored = row.stored === 'old' ? row.old : row.stored === 'sent' ? row.object : row.stored;
    expect(outcome.object).toEqual(stored);
    if (row.warning) expect(outcome.warnings).toContainEqual(expect.stringMatching(row.warning));
    else expect(outcome.warnings).toEqual([]);
    // The API server keeps the time of a deletion.
    const { deletionTimestamp } = row.old?.metadata ?? {};
    const metadata = { ...outcome.object.metadata, ...(deletionTimestamp && { deletionTimestamp }) };
    const object = { ...outcome.object, metadata };
    expect(decide({ ...write, object, old: object }), 'written again as stored').toMatchObject({ object });
  });
