/** What becomes of a write of a Kustomization that requires Gates: docs/architecture.md, writes W10 to W24. */
import { describe, expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { Gate } from '../../../api/types.ts';
import type { FluxWrite } from '../../../core/hold/write.ts';
import {
  APP_PATH,
  deployment,
  gate,
  gatesByName,
  judge,
  type KustomizationParts,
  kustomization,
  NOW,
  owner,
  rollout,
  rolloutsByName,
} from './objects.ts';

const PIN = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
const GATED = { ...PIN, 'gate.fluxcd.io/gates': 'freeze' };
const MEMORY = 'gate.fluxcd.io/suspended';
const STATE = 'gate.fluxcd.io/state';
const REASON = 'gate.fluxcd.io/bypass-reason';
const BY = 'gate.fluxcd.io/bypassed-by';
const MARK = 'gate.fluxcd.io/selected-by';
const GIT = 'kustomize-controller';
const NAME_LABEL = 'kustomize.toolkit.fluxcd.io/name';
const NAMESPACE_LABEL = 'kustomize.toolkit.fluxcd.io/namespace';
const OWNER = { [NAME_LABEL]: 'apps', [NAMESPACE_LABEL]: 'flux-system' };

/** As stored behind the closed gate shop/freeze. */
const FROZEN = { ...GATED, [MEMORY]: 'unset', [STATE]: 'closed: shop/freeze' };
const frozen = (parts: KustomizationParts = {}): FluxObject =>
  kustomization({
    deployed: deployment('my-app', 1, '1.0.0'),
    substitute: { APP: '1.0.0' },
    ...parts,
    annotations: { ...FROZEN, ...parts.annotations },
    spec: { suspend: true, ...parts.spec },
  });
/** Who owns what: Git the spec, in one server-side apply. */
const git = (...paths: string[]) => ({ ...owner('Apply', ...paths), manager: GIT });
const kubectl = (...paths: string[]) => ({ ...owner('Update', ...paths), manager: 'kubectl-edit' });

const closedGate = gate('shop/freeze');
const openGate = gate('shop/freeze', { default: 'opened' });

/** The Kustomization flux-system/apps, asked for an apply at the opening and done with it. */
const applier = (status: string, reason: string): FluxObject =>
  kustomization({
    annotations: { [RECONCILE_REQUESTED_AT]: '2026-03-04T10:00:00Z' },
    status: {
      lastHandledReconcileAt: '2026-03-04T10:00:00Z',
      conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '', observedGeneration: 3 }],
    },
  });

/** The decorator says that the object should wait no more. */
const resumedAlone = {
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

interface Row {
  says: string;
  old?: FluxObject;
  object: FluxObject;
  gates?: Gate[];
  fieldManager?: string;
  user?: string;
  bypass?: FluxWrite['bypass'];
  applier?: FluxObject;
  namespaceLabels?: Record<string, string>;
  now?: number;
  /** What is stored; the old object when 'old'. */
  stored?: FluxObject | 'old' | 'sent';
  warning?: RegExp;
  denial?: RegExp;
}

const without = (object: FluxObject, ...annotations: string[]): FluxObject => {
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => !annotations.includes(key));
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
};

function deleting(annotations: Record<string, string>): FluxObject {
  const object = kustomization({ annotations, deployed: deployment('my-app', 2, '1.1.0') });
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-03-04T09:59:00Z' } };
}

const rows: Row[] = [
  // Row 1: any write.
  {
    says: 'a closed gate suspends, remembers what suspend was, and keeps the pin where it is',
    old: kustomization({
      annotations: GATED,
      deployed: deployment('my-app', 1, '1.0.0'),
      substitute: { APP: '1.0.0' },
    }),
    object: kustomization({
      annotations: { ...GATED, [STATE]: 'closed: shop/freeze' },
      deployed: deployment('my-app', 2, '1.1.0'),
      substitute: { APP: '1.0.0' },
    }),
    stored: frozen(),
  },
  {
    says: 'what suspend was: false',
    old: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, spec: { suspend: false } }),
    object: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'x' },
      spec: { suspend: false },
    }),
    stored: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [MEMORY]: 'false', [STATE]: 'closed: shop/freeze' },
      spec: { suspend: true },
    }),
  },
  {
    says: "a person's own suspend stays a person's own",
    old: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, spec: { suspend: true } }),
    object: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'x' }, spec: { suspend: true } }),
    stored: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [MEMORY]: 'true', [STATE]: 'closed: shop/freeze' },
      spec: { suspend: true },
    }),
  },
  {
    says: "nobody's text in our annotations counts, and none is a reason to deny",
    old: frozen(),
    object: frozen({
      deployed: deployment('my-app', 7, '7'),
      annotations: {
        [MEMORY]: 'true',
        [STATE]: 'bypassed: shop/freeze',
        [BY]: '2026-03-04T09:59:00Z mallory',
        [MARK]: 'x/y',
      },
    }),
    stored: 'old',
  },
  { says: 'our annotations removed come back', old: frozen(), object: without(frozen(), MEMORY, STATE), stored: 'old' },
  {
    says: 'what gates do not govern passes',
    old: frozen(),
    object: frozen({ annotations: { note: 'x' }, labels: { team: 'a' } }),
    stored: 'sent',
  },
  // Row 2: applies.
  {
    says: 'a Git sync that changes the spec is held whole',
    old: frozen({ labels: { a: '1' }, managedFields: [git('spec.interval', 'spec.path')], spec: { path: './old' } }),
    object: frozen({
      labels: { a: '2' },
      annotations: { 'gate.fluxcd.io/gates': 'freeze,other' },
      managedFields: [git('spec.interval', 'spec.path', 'annotation:gate.fluxcd.io/gates')],
      spec: { path: './new' },
    }),
    gates: [closedGate],
    fieldManager: GIT,
    stored: 'old',
    warning: /^held, nothing changed: gate shop\/freeze is closed/,
  },
  {
    says: 'a Git sync that writes suspend: false again is held',
    old: frozen({ managedFields: [git('spec.suspend')] }),
    object: frozen({ managedFields: [git('spec.suspend')], spec: { suspend: false } }),
    fieldManager: GIT,
    stored: 'old',
    warning: /^held/,
  },
  {
    says: 'a Git sync that changes labels only is held',
    old: frozen({ labels: { a: '1' }, managedFields: [git('metadata.labels.a')] }),
    object: frozen({ labels: { a: '2' }, managedFields: [git('metadata.labels.a')] }),
    fieldManager: GIT,
    stored: 'old',
    warning: /^held/,
  },
  {
    says: "a Git sync that removes a field is held, and the field's owner stays",
    old: frozen({ managedFields: [git('spec.path', 'spec.interval')], spec: { path: './old' } }),
    object: frozen({ managedFields: [git('spec.interval')] }),
    fieldManager: GIT,
    stored: 'old',
    warning: /^held/,
  },
  {
    says: 'a Git sync that removes the gate is held',
    old: frozen({ managedFields: [git('spec.interval')] }),
    object: without(frozen({ managedFields: [git('spec.interval')] }), 'gate.fluxcd.io/gates'),
    fieldManager: GIT,
    stored: 'old',
    warning: /^held/,
  },
  {
    says: 'kubectl apply of the unchanged manifest is held',
    old: frozen({ lastApplied: { APP: '0.9.0' } }),
    object: frozen({ lastApplied: { APP: '0.9.0' }, substitute: { APP: '0.9.0' }, managedFields: [kubectl(APP_PATH)] }),
    stored: 'old',
    warning: /^held/,
  },
  {
    says: 'in the open, a Git sync is taken',
    old: kustomization({ annotations: GATED, deployed: deployment('my-app', 2, '1.1.0') }),
    object: kustomization({
      annotations: { ...GATED, [STATE]: 'open' },
      deployed: deployment('my-app', 2, '1.1.0'),
      spec: { path: './new' },
      managedFields: [git('spec.path')],
    }),
    gates: [openGate],
    fieldManager: GIT,
    stored: 'sent',
  },
  // Row 4: everything else.
  {
    says: 'a direct edit of the spec',
    old: frozen(),
    object: frozen({ spec: { path: './mine' }, managedFields: [kubectl('spec.path')] }),
    denial:
      /Kustomization shop\/web cannot be changed \(spec\.path\): gate 'shop\/freeze' is closed \(Gate closed by default\)/,
  },
  {
    says: 'it says how to open and how to bypass',
    old: frozen(),
    object: frozen({ spec: { path: './mine' } }),
    denial:
      /kubectl -n shop annotate --overwrite gate\/freeze open\.gate\.fluxcd\.io\/requestedAt=.*verb bypass.*bypass-reason/,
  },
  {
    says: 'and until when',
    old: frozen(),
    object: frozen({ spec: { path: './mine' } }),
    gates: [
      gate(
        'shop/freeze',
        { default: 'opened', window: '1h' },
        { 'close.gate.fluxcd.io/requestedAt': '2026-03-04T09:30:00Z' },
      ),
    ],
    denial: /Gate scheduled for opening at 2026-03-04T10:30:00Z/,
  },
  { says: 'flux resume', old: frozen(), object: frozen({ spec: { suspend: false } }), denial: /spec\.suspend/ },
  {
    says: 'a direct edit of the pin',
    old: frozen(),
    object: frozen({ substitute: { APP: '3' } }),
    denial: /substitute\.APP/,
  },
  { says: 'a direct removal', old: frozen({ spec: { path: 'x' } }), object: frozen(), denial: /spec\.path/ },
  {
    says: 'removal of the gate annotation',
    old: frozen({ managedFields: [git('spec.interval')] }),
    object: without(frozen({ managedFields: [git('spec.interval')] }), 'gate.fluxcd.io/gates'),
    fieldManager: 'kubectl-annotate',
    denial: /metadata\.annotations\.gate\.fluxcd\.io\/gates/,
  },
  {
    says: 'another gate in its place',
    old: frozen(),
    object: frozen({ annotations: { 'gate.fluxcd.io/gates': 'other' } }),
    denial: /gate\.fluxcd\.io\/gates/,
  },
  {
    says: 'removal of a Rollout annotation',
    old: frozen(),
    object: without(frozen(), 'rollout.kuberik.com/substitute.APP.from'),
    denial: /substitute\.APP\.from/,
  },
  {
    says: 'a new owner',
    old: frozen(),
    object: {
      ...frozen(),
      metadata: {
        ...frozen().metadata,
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }],
      },
    },
    denial: /metadata\.ownerReferences/,
  },
  {
    says: 'an edit that names a manager of applies',
    old: frozen({ managedFields: [git('spec.path')], spec: { path: 'a' } }),
    object: frozen({ managedFields: [{ ...owner('Update', 'spec.path'), manager: GIT }], spec: { path: 'b' } }),
    fieldManager: GIT,
    denial: /spec\.path/,
  },
  {
    says: 'a gate that does not exist is closed, and the message says so',
    old: frozen(),
    object: frozen({ spec: { path: './mine' } }),
    gates: [],
    denial: /Gate 'shop\/freeze' does not exist, and a missing gate counts as closed/,
  },
  {
    says: 'every gate in the way is named',
    old: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze,ops/second' } }),
    object: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze,ops/second' }, spec: { path: 'x' } }),
    gates: [closedGate, gate('ops/second')],
    denial: /'shop\/freeze'.*'ops\/second'/,
  },
  // Garbage collector.
  {
    says: 'the garbage collector may take owner references away',
    old: {
      ...frozen(),
      metadata: { ...frozen().metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'a' }] },
    },
    object: frozen(),
    user: 'system:serviceaccount:kube-system:generic-garbage-collector',
    stored: 'sent',
  },
  // A bypass.
  {
    says: 'with a bypass an edit passes and is recorded; the object stays suspended',
    old: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } }),
    object: frozen({
      annotations: { [REASON]: 'INC-1' },
      spec: { path: './fix' },
      substitute: { APP: '1.1.0' },
      deployed: deployment('my-app', 2, '1.1.0'),
    }),
    bypass: { granted: true },
    user: 'admin',
    stored: frozen({
      annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z admin' },
      spec: { path: './fix' },
      substitute: { APP: '1.1.0' },
      deployed: deployment('my-app', 2, '1.1.0'),
    }),
    warning: /^written, but still suspended/,
  },
  {
    says: 'with a bypass suspend may be lifted, and the state says so',
    old: frozen({ deployed: deployment('my-app', 2, '1.1.0'), substitute: { APP: '1.1.0' } }),
    object: frozen({
      deployed: deployment('my-app', 2, '1.1.0'),
      substitute: { APP: '1.1.0' },
      annotations: { [REASON]: 'INC-1' },
      spec: { suspend: false },
    }),
    bypass: { granted: true },
    user: 'admin',
    stored: without(
      frozen({
        deployed: deployment('my-app', 2, '1.1.0'),
        substitute: { APP: '1.1.0' },
        annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z admin', [STATE]: 'bypassed: shop/freeze' },
        spec: { suspend: false },
      }),
      MEMORY,
    ),
  },
  {
    says: 'after that the object runs, and still nobody else may change it',
    old: without(frozen({ annotations: { [STATE]: 'bypassed: shop/freeze' }, spec: { suspend: false } }), MEMORY),
    object: without(
      frozen({ annotations: { [STATE]: 'bypassed: shop/freeze' }, spec: { suspend: false, path: 'x' } }),
      MEMORY,
    ),
    denial: /spec\.path/,
  },
  {
    says: 'a bypassed object is not suspended again while the same gates are closed',
    old: without(frozen({ annotations: { [STATE]: 'bypassed: shop/freeze' }, spec: { suspend: false } }), MEMORY),
    object: without(frozen({ annotations: { [STATE]: 'closed: shop/freeze' }, spec: { suspend: false } }), MEMORY),
    stored: 'old',
  },
  {
    says: 'a second gate that closes suspends it again',
    old: without(
      frozen({
        annotations: { [STATE]: 'bypassed: shop/freeze', 'gate.fluxcd.io/gates': 'freeze,two' },
        spec: { suspend: false },
      }),
      MEMORY,
    ),
    object: without(
      frozen({ annotations: { [STATE]: 'x', 'gate.fluxcd.io/gates': 'freeze,two' }, spec: { suspend: false } }),
      MEMORY,
    ),
    gates: [closedGate, gate('shop/two')],
    stored: frozen({
      annotations: { [MEMORY]: 'false', [STATE]: 'closed: shop/freeze,shop/two', 'gate.fluxcd.io/gates': 'freeze,two' },
    }),
  },
  {
    says: 'a bypass that is refused: the denial says why',
    old: frozen(),
    object: frozen({ annotations: { [REASON]: 'please' }, spec: { path: 'x' } }),
    bypass: { granted: false, refused: 'developer has no verb bypass on shop/freeze' },
    denial: /Bypass refused: developer has no verb bypass on shop\/freeze/,
  },
  // Created behind a closed gate.
  {
    says: 'created behind a closed gate: admitted, pinned, suspended',
    object: kustomization({ annotations: GATED, substitute: {} }),
    stored: kustomization({
      annotations: FROZEN,
      deployed: deployment('my-app', 2, '1.1.0'),
      substitute: { APP: '1.1.0' },
      spec: { suspend: true },
    }),
    warning: /^Kustomization web is suspended: gate shop\/freeze is closed/,
  },
  {
    says: 'created with a reference that names no gate: suspended, and said',
    object: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'a/b/c' } }),
    stored: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'a/b/c', [MEMORY]: 'unset', [STATE]: 'closed: (invalid)' },
      spec: { suspend: true },
    }),
    warning: /does not name a Gate/,
  },
  {
    says: 'such a reference can be repaired',
    old: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'a/b/c', [MEMORY]: 'unset', [STATE]: 'closed: (invalid)' },
      spec: { suspend: true },
    }),
    object: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [MEMORY]: 'unset', [STATE]: 'closed: (invalid)' },
      spec: { suspend: true },
    }),
    gates: [openGate],
    stored: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' } }),
  },
  {
    says: 'restored from a backup made behind the gate: what suspend was is not forgotten',
    object: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [MEMORY]: 'unset', [STATE]: 'closed: shop/freeze' },
      spec: { suspend: true },
    }),
    gates: [openGate],
    stored: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' } }),
  },
  // Opening.
  ...(['unset', 'false', 'true'] as const).map(
    (memory): Row => ({
      says: `opening restores suspend to ${memory}, and the pin moves in the same write`,
      old: frozen({ annotations: { [MEMORY]: memory } }),
      object: frozen({ annotations: { [MEMORY]: memory, [STATE]: 'open' } }),
      gates: [openGate],
      stored: kustomization({
        annotations: { ...GATED, [STATE]: 'open' },
        deployed: deployment('my-app', 2, '1.1.0'),
        spec: memory === 'unset' ? {} : { suspend: memory === 'true' },
      }),
    }),
  ),
  {
    says: 'an object that a Kustomization applies waits for its next apply',
    old: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, labels: OWNER }),
    object: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' }, labels: OWNER }),
    gates: [openGate],
    stored: frozen({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'opening: 2026-03-04T10:00:00Z' },
      labels: OWNER,
      deployed: deployment('my-app', 2, '1.1.0'),
      substitute: { APP: '1.1.0' },
    }),
  },
  {
    says: 'to the millisecond: what its owner applied earlier in that second was before the opening',
    old: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, labels: OWNER }),
    object: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' }, labels: OWNER }),
    gates: [openGate],
    now: NOW + 364,
    stored: frozen({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'opening: 2026-03-04T10:00:00.364Z' },
      labels: OWNER,
      deployed: deployment('my-app', 2, '1.1.0'),
      substitute: { APP: '1.1.0' },
    }),
  },
  {
    says: 'and is resumed in it, with the new spec',
    old: frozen({
      labels: OWNER,
      annotations: { [STATE]: 'opening: 2026-03-04T10:00:00Z' },
      managedFields: [git('spec.path')],
      spec: { path: 'old' },
    }),
    object: frozen({
      labels: OWNER,
      annotations: { [STATE]: 'opening: 2026-03-04T10:00:00Z' },
      managedFields: [git('spec.path')],
      spec: { path: 'new' },
    }),
    gates: [openGate],
    fieldManager: GIT,
    now: NOW + 5000,
    stored: kustomization({
      labels: OWNER,
      annotations: { ...GATED, [STATE]: 'open' },
      deployed: deployment('my-app', 2, '1.1.0'),
      managedFields: [git('spec.path')],
      spec: { path: 'new' },
    }),
  },
  {
    says: "Git's own suspend counts, not what is remembered",
    old: frozen({ labels: OWNER, annotations: { [MEMORY]: 'false' }, managedFields: [git('spec.suspend')] }),
    object: frozen({
      labels: OWNER,
      annotations: { [MEMORY]: 'false' },
      managedFields: [git('spec.suspend')],
      spec: { suspend: true },
    }),
    gates: [openGate],
    fieldManager: GIT,
    stored: kustomization({
      labels: OWNER,
      annotations: { ...GATED, [STATE]: 'open' },
      deployed: deployment('my-app', 2, '1.1.0'),
      managedFields: [git('spec.suspend')],
      spec: { suspend: true },
    }),
  },
  {
    says: 'nobody resumes it earlier by saying that it is open',
    ...resumedAlone,
    now: NOW + 119_000,
    stored: 'old',
  },
  {
    says: 'another write while it waits does not resume it',
    ...resumedAlone,
    object: resumedAlone.old,
    applier: applier('True', 'ReconciliationSucceeded'),
    now: NOW + 3_600_000,
    stored: 'old',
  },
  {
    says: 'when it has no owner any more, it is resumed alone after two minutes',
    ...resumedAlone,
    now: NOW + 120_000,
  },
  {
    says: 'when its owner has applied everything since, and not this, it is resumed at once: it may be on its way out',
    ...resumedAlone,
    applier: applier('False', 'PruneFailed'),
    now: NOW + 1000,
  },
  {
    says: 'while its owner fails it waits, however long: it would run the old spec on the new artifact',
    ...resumedAlone,
    applier: applier('False', 'BuildFailed'),
    now: NOW + 3_600_000,
    stored: 'old',
  },
  {
    says: 'while its owner has not come to it, it waits, however long',
    ...resumedAlone,
    applier: kustomization({ annotations: {} }),
    now: NOW + 3_600_000,
    stored: 'old',
  },
  {
    says: 'a Kustomization that applies itself is resumed at once: it could not do it',
    old: frozen({ labels: { [NAME_LABEL]: 'web', [NAMESPACE_LABEL]: 'shop' } }),
    object: frozen({ labels: { [NAME_LABEL]: 'web', [NAMESPACE_LABEL]: 'shop' }, annotations: { [STATE]: 'open' } }),
    gates: [openGate],
    stored: kustomization({
      labels: { [NAME_LABEL]: 'web', [NAMESPACE_LABEL]: 'shop' },
      annotations: { ...GATED, [STATE]: 'open' },
      deployed: deployment('my-app', 2, '1.1.0'),
    }),
  },
  {
    says: 'flux resume in the open counts as said',
    old: frozen({ labels: OWNER, annotations: { [MEMORY]: 'true', [STATE]: 'opening: 2026-03-04T10:00:00Z' } }),
    object: frozen({
      labels: OWNER,
      annotations: { [MEMORY]: 'true', [STATE]: 'opening: 2026-03-04T10:00:00Z' },
      spec: { suspend: false },
    }),
    gates: [openGate],
    stored: kustomization({
      labels: OWNER,
      annotations: { ...GATED, [STATE]: 'open' },
      deployed: deployment('my-app', 2, '1.1.0'),
      spec: { suspend: false },
    }),
  },
  {
    says: 'a gate that closes again finds what suspend was at first',
    old: frozen({ labels: OWNER, annotations: { [MEMORY]: 'false', [STATE]: 'opening: 2026-03-04T10:00:00Z' } }),
    object: frozen({ labels: OWNER, annotations: { [MEMORY]: 'false', [STATE]: 'closed: shop/freeze' } }),
    stored: frozen({ labels: OWNER, annotations: { [MEMORY]: 'false' } }),
  },
  {
    says: 'an object that is being deleted is not suspended any more: it would leave behind what it applied',
    old: deleting({ ...GATED, [STATE]: 'open' }),
    object: deleting({ ...GATED, [STATE]: 'closed: shop/freeze', note: '' }),
    stored: deleting({ ...GATED, [STATE]: 'open', note: '' }),
  },
  {
    says: 'annotations that leave no room for the suspension are refused',
    old: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' } }),
    object: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open', padding: 'x'.repeat(261_000) },
    }),
    gates: [openGate],
    denial: /leave no room for what a closed gate writes/,
  },
  // Selection.
  {
    says: 'a Gate that selects the object suspends it',
    old: kustomization({ annotations: {} }),
    object: kustomization({ annotations: { [MARK]: 'shop/all' } }),
    gates: [gate('shop/all', { selects: {} })],
    stored: kustomization({
      annotations: { [MARK]: 'shop/all', [MEMORY]: 'unset', [STATE]: 'closed: shop/all' },
      spec: { suspend: true },
    }),
  },
  {
    says: 'a mark for a Gate that does not select the object is dropped',
    old: kustomization({ annotations: {} }),
    object: kustomization({ annotations: { note: '', [MARK]: 'ops/all,shop/gone,shop/plain' } }),
    gates: [gate('ops/all', { selects: {} }), gate('shop/plain')],
    stored: kustomization({ annotations: { note: '' } }),
  },
  {
    says: 'an object that grows until nothing more can be written on it is refused',
    old: kustomization({ annotations: GATED }),
    object: kustomization({ annotations: GATED, spec: { patches: ['<'.repeat(90_000)] } }),
    gates: [openGate],
    denial: /540\d{3} bytes without status and managedFields leave no room/,
  },
  {
    says: 'one that was too large before may shrink, and be marked',
    old: kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, spec: { path: 'x'.repeat(600_000) } }),
    object: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'x' },
      spec: { path: 'x'.repeat(599_999) },
    }),
    gates: [openGate],
    stored: kustomization({
      annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'open' },
      spec: { path: 'x'.repeat(599_999) },
    }),
  },
  {
    says: 'a mark that is removed comes back',
    old: kustomization({
      annotations: { [MARK]: 'shop/all', [MEMORY]: 'unset', [STATE]: 'closed: shop/all' },
      spec: { suspend: true },
    }),
    object: kustomization({ annotations: { [MEMORY]: 'unset', [STATE]: 'closed: shop/all' }, spec: { suspend: true } }),
    gates: [gate('shop/all', { selects: {} })],
    stored: 'old',
  },
  {
    says: 'a label changed by hand to leave the selection is refused',
    old: kustomization({ annotations: { [MARK]: 'shop/all' }, labels: { team: 'a' } }),
    object: kustomization({ annotations: { [MARK]: 'shop/all' }, labels: { team: 'b' } }),
    gates: [gate('shop/all', { selects: { labelSelector: { matchLabels: { team: 'a' } } } })],
    denial: /metadata\.labels\.team/,
  },
  {
    says: 'the Gate of another namespace selects by the labels of the Namespace',
    old: kustomization({ annotations: { [MARK]: 'ops/all' } }),
    object: kustomization({ annotations: { [MARK]: 'ops/all' }, spec: { path: 'x' } }),
    gates: [gate('ops/all', { selects: { namespaceSelector: { matchLabels: { env: 'prod' } } } })],
    namespaceLabels: { env: 'prod' },
    denial: /gate 'ops\/all' is closed/,
  },
];

describe('one write of a gated Kustomization', () => {
  it.each(rows)('$says', (row) => {
    const write: FluxWrite = {
      object: row.object,
      oldObject: row.old,
      world: {
        rollouts: rolloutsByName(rollout('my-app', '1.1.0', '1.0.0')),
        gates: gatesByName(...(row.gates ?? [closedGate])),
        namespaceLabels: row.namespaceLabels ?? {},
        now: row.now ?? NOW,
        applier: row.applier,
      },
      user: row.user ?? 'developer',
      fieldManager: row.fieldManager,
      bypass: row.bypass,
    };
    const outcome = judge(write);
    if (row.denial || outcome.denial !== undefined) {
      expect(outcome.denial).toMatch(row.denial ?? /no denial expected/);
      return;
    }
    const stored = row.stored === 'old' ? row.old : row.stored === 'sent' ? row.object : row.stored;
    expect(outcome.object).toEqual(stored);
    if (row.warning) expect(outcome.warnings).toContainEqual(expect.stringMatching(row.warning));
    else expect(outcome.warnings).toEqual([]);
    const again = judge({ ...write, object: outcome.object });
    expect(again, 'a second pass').toMatchObject({ object: outcome.object });
  });
});
