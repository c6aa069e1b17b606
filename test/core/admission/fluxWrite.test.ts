/** What becomes of a write of a Kustomization that requires Gates: docs/reference/writes.md, W10 to W18. */

import { describe } from 'vitest';
import { APP_PATH, deployment, gate, kustomization, owner } from './objects.ts';
import {
  BY,
  closedGate,
  FROZEN,
  frozen,
  GATED,
  GIT,
  git,
  itDecides,
  kubectl,
  MARK,
  MEMORY,
  openGate,
  STATE,
  without,
} from './writes.ts';

describe('one write of a gated Kustomization', () => {
  itDecides([
    // Any write.
    {
      says: 'a closed gate suspends, stores the previous spec.suspend, and keeps the managed field',
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
      object: kustomization({
        annotations: { 'gate.fluxcd.io/gates': 'freeze', [STATE]: 'x' },
        spec: { suspend: true },
      }),
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
    {
      says: 'our annotations removed come back',
      old: frozen(),
      object: without(frozen(), MEMORY, STATE),
      stored: 'old',
    },
    {
      says: 'what gates do not govern passes',
      old: frozen(),
      object: frozen({ annotations: { note: 'x' }, labels: { team: 'a' } }),
      stored: 'sent',
    },
    // An apply.
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
      object: frozen({
        lastApplied: { APP: '0.9.0' },
        substitute: { APP: '0.9.0' },
        managedFields: [kubectl(APP_PATH)],
      }),
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
    // An edit.
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
        /verb bypass.*bypass-reason.*\nTo open Gate shop\/freeze:\n {2}kubectl -n shop annotate --overwrite gate\/freeze open\.gate\.fluxcd\.io\/requestedAt=/,
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
      says: 'a direct edit of the managed field',
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
      says: "a person's server-side apply, which is no sync from Git",
      old: frozen({ managedFields: [git('spec.interval')] }),
      object: frozen({
        managedFields: [git('spec.interval'), { ...owner('Apply', 'spec.path'), manager: 'kubectl' }],
        spec: { path: 'b' },
      }),
      fieldManager: 'kubectl',
      denial: /spec\.path/,
    },
    {
      says: "a person's server-side apply that drops a field",
      old: frozen({ managedFields: [{ ...owner('Apply', 'spec.path'), manager: 'kubectl' }], spec: { path: 'a' } }),
      object: frozen({ managedFields: [{ ...owner('Apply', 'spec.interval'), manager: 'kubectl' }] }),
      fieldManager: 'kubectl',
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
    {
      says: 'the garbage collector may change nothing else',
      old: frozen({ spec: { path: 'a' } }),
      object: frozen({ spec: { path: 'b' } }),
      user: 'system:serviceaccount:kube-system:generic-garbage-collector',
      denial: /spec\.path/,
    },
    // Created behind a closed gate.
    {
      says: 'created behind a closed gate: admitted, managed field set, suspended',
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
      says: 'a mark that is removed comes back',
      old: kustomization({
        annotations: { [MARK]: 'shop/all', [MEMORY]: 'unset', [STATE]: 'closed: shop/all' },
        spec: { suspend: true },
      }),
      object: kustomization({
        annotations: { [MEMORY]: 'unset', [STATE]: 'closed: shop/all' },
        spec: { suspend: true },
      }),
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
  ]);
});
