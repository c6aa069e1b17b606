/** Writes of a Kustomization that requires Gates: docs/reference/writes.md, W10 to W18. */

import { describe } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import { APP_PATH, deployment, gate, type KustomizationParts, kustomization, owner } from './objects.ts';
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
  type Row,
  row,
  STATE,
  without,
} from './writes.ts';

const ASKING = { 'gate.fluxcd.io/gates': 'freeze' };
/** A Git sync of a frozen Kustomization. */
const held = (title: string, old: KustomizationParts, object: FluxObject, rest: Partial<Row> = {}): Row => {
  return { title, old: frozen(old), object, fieldManager: GIT, stored: 'old', warning: /^not applied/, ...rest };
};
/** An edit of a frozen Kustomization. */
const denied = (title: string, object: FluxObject, denial: RegExp, rest: Partial<Row> = {}): Row => {
  return { title, old: frozen(), object, denial, ...rest };
};
const atPath = (path: string, managedFields?: KustomizationParts['managedFields']) =>
  frozen({ spec: { path }, ...(managedFields && { managedFields }) });
const byUser = (...paths: string[]) => ({ ...owner('Apply', ...paths), manager: 'kubectl' });
const owned = (...ownerReferences: object[]): FluxObject => {
  return { ...frozen(), metadata: { ...frozen().metadata, ownerReferences: ownerReferences as never } };
};
const INVALID = { 'gate.fluxcd.io/gates': 'a/b/c', [MEMORY]: 'unset', [STATE]: 'closed: (invalid)' };
const OPENED = kustomization({ annotations: { ...ASKING, [STATE]: 'open' } });
const selecting = gate('shop/all', { selects: {} });
const SELECTED = { [MEMORY]: 'unset', [STATE]: 'closed: shop/all' };
const marked = (annotations: Record<string, string> = {}) =>
  kustomization({ annotations: { ...SELECTED, ...annotations }, spec: { suspend: true } });

describe('one write of a gated Kustomization', () => {
  itDecides([
    // Any write.
    row(
      'a closed gate suspends, stores the previous spec.suspend, and keeps the managed field',
      kustomization({ annotations: GATED, deployed: deployment('my-app', 1, '1.0.0'), substitute: { APP: '1.0.0' } }),
      kustomization({
        annotations: { ...GATED, [STATE]: 'closed: shop/freeze' },
        deployed: deployment('my-app', 2, '1.1.0'),
        substitute: { APP: '1.0.0' },
      }),
      { stored: frozen() },
    ),
    row(
      "nobody's text in our annotations counts, and none is a reason to deny",
      frozen(),
      frozen({
        deployed: deployment('my-app', 7, '7'),
        annotations: {
          [MEMORY]: 'true',
          [STATE]: 'bypassed: shop/freeze',
          [BY]: '2026-03-04T09:59:00Z mallory',
          [MARK]: 'x/y',
        },
      }),
      { stored: 'old' },
    ),
    row('our annotations removed come back', frozen(), without(frozen(), MEMORY, STATE), { stored: 'old' }),
    row('what gates do not govern passes', frozen(), frozen({ annotations: { note: 'x' }, labels: { team: 'a' } }), {
      stored: 'sent',
    }),
    row(
      'the garbage collector may take owner references away',
      owned({ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'a' }),
      frozen(),
      { user: 'system:serviceaccount:kube-system:generic-garbage-collector', stored: 'sent' },
    ),
    denied('the garbage collector may change nothing else', atPath('b'), /spec\.path/, {
      old: atPath('a'),
      user: 'system:serviceaccount:kube-system:generic-garbage-collector',
    }),
    // An apply.
    held(
      'a Git sync that changes the spec is reverted whole',
      { labels: { a: '1' }, managedFields: [git('spec.interval', 'spec.path')], spec: { path: './old' } },
      frozen({
        labels: { a: '2' },
        annotations: { 'gate.fluxcd.io/gates': 'freeze,other' },
        managedFields: [git('spec.interval', 'spec.path', 'annotation:gate.fluxcd.io/gates')],
        spec: { path: './new' },
      }),
      { gates: [closedGate], warning: /^not applied: Gate 'shop\/freeze' is closed/ },
    ),
    held(
      'a Git sync that writes suspend: false again is reverted',
      { managedFields: [git('spec.suspend')] },
      frozen({ managedFields: [git('spec.suspend')], spec: { suspend: false } }),
    ),
    held(
      'a Git sync that changes labels only is reverted',
      { labels: { a: '1' }, managedFields: [git('metadata.labels.a')] },
      frozen({ labels: { a: '2' }, managedFields: [git('metadata.labels.a')] }),
    ),
    held(
      "a Git sync that removes a field is reverted, and the field's owner stays",
      { managedFields: [git('spec.path', 'spec.interval')], spec: { path: './old' } },
      frozen({ managedFields: [git('spec.interval')] }),
    ),
    held(
      'a Git sync that removes the gate is reverted',
      { managedFields: [git('spec.interval')] },
      without(frozen({ managedFields: [git('spec.interval')] }), 'gate.fluxcd.io/gates'),
    ),
    held(
      'kubectl apply of the unchanged manifest is reverted',
      { lastApplied: { APP: '0.9.0' } },
      frozen({ lastApplied: { APP: '0.9.0' }, substitute: { APP: '0.9.0' }, managedFields: [kubectl(APP_PATH)] }),
      { fieldManager: undefined },
    ),
    row(
      'in the open, a Git sync is taken',
      kustomization({ annotations: GATED, deployed: deployment('my-app', 2, '1.1.0') }),
      kustomization({
        annotations: { ...GATED, [STATE]: 'open' },
        deployed: deployment('my-app', 2, '1.1.0'),
        spec: { path: './new' },
        managedFields: [git('spec.path')],
      }),
      { gates: [openGate], fieldManager: GIT, stored: 'sent' },
    ),
    // An edit.
    denied(
      'a direct edit of the spec',
      atPath('./mine', [kubectl('spec.path')]),
      /Kustomization 'shop\/web' cannot be changed \(spec\.path\): Gate 'shop\/freeze' is closed \(Gate closed by default\)/,
    ),
    denied(
      'it says how to open and how to bypass',
      atPath('./mine'),
      /bypass-reason.*verb bypass.*\nTo open Gate shop\/freeze:\n {2}kubectl -n shop annotate --overwrite gate\/freeze open\.gate\.fluxcd\.io\/requestedAt=/,
    ),
    denied('and until when', atPath('./mine'), /Gate scheduled for opening at 2026-03-04T10:30:00Z/, {
      gates: [
        gate(
          'shop/freeze',
          { default: 'opened', window: '1h' },
          { 'close.gate.fluxcd.io/requestedAt': '2026-03-04T09:30:00Z' },
        ),
      ],
    }),
    denied('flux resume', frozen({ spec: { suspend: false } }), /spec\.suspend/),
    denied('a direct edit of the managed field', frozen({ substitute: { APP: '3' } }), /substitute\.APP/),
    denied('a direct removal', frozen(), /spec\.path/, { old: atPath('x') }),
    denied(
      'removal of the gate annotation',
      without(frozen({ managedFields: [git('spec.interval')] }), 'gate.fluxcd.io/gates'),
      /metadata\.annotations\.gate\.fluxcd\.io\/gates/,
      { old: frozen({ managedFields: [git('spec.interval')] }), fieldManager: 'kubectl-annotate' },
    ),
    denied(
      'another gate in its place',
      frozen({ annotations: { 'gate.fluxcd.io/gates': 'other' } }),
      /gate\.fluxcd\.io\/gates/,
    ),
    denied(
      'removal of a Rollout annotation',
      without(frozen(), 'rollout.kuberik.com/substitute.APP.from'),
      /substitute\.APP\.from/,
    ),
    denied(
      'a new owner',
      owned({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }),
      /metadata\.ownerReferences/,
    ),
    denied(
      'an edit that names a manager of applies',
      atPath('b', [{ ...owner('Update', 'spec.path'), manager: GIT }]),
      /spec\.path/,
      { old: atPath('a', [git('spec.path')]), fieldManager: GIT },
    ),
    denied(
      "a person's server-side apply, which is no sync from Git",
      atPath('b', [git('spec.interval'), byUser('spec.path')]),
      /spec\.path/,
      { old: frozen({ managedFields: [git('spec.interval')] }), fieldManager: 'kubectl' },
    ),
    denied(
      "a person's server-side apply that drops a field",
      frozen({ managedFields: [byUser('spec.interval')] }),
      /spec\.path/,
      { old: atPath('a', [byUser('spec.path')]), fieldManager: 'kubectl' },
    ),
    denied(
      'a gate that does not exist is closed, and the denial has the command that creates it',
      atPath('./mine'),
      /Gate 'shop\/freeze' does not exist and counts as closed: create it.*\n {2}echo '\{"apiVersion":"gating.*"name":"freeze"\},"spec":\{"default":"opened"\}\}' \| kubectl create -f -$/s,
      { gates: [] },
    ),
    denied(
      'every gate in the way is named',
      frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze,ops/second' }, spec: { path: 'x' } }),
      /'shop\/freeze'.*'ops\/second'/,
      {
        old: frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze,ops/second' } }),
        gates: [closedGate, gate('ops/second')],
      },
    ),
    // Created behind a closed gate.
    row(
      'created behind a closed gate: admitted, managed field set, suspended',
      undefined,
      kustomization({ annotations: GATED, substitute: {} }),
      {
        stored: kustomization({
          annotations: FROZEN,
          deployed: deployment('my-app', 2, '1.1.0'),
          substitute: { APP: '1.1.0' },
          spec: { suspend: true },
        }),
        warning: /^Kustomization 'shop\/web' is suspended: Gate 'shop\/freeze' is closed/,
      },
    ),
    row(
      'created with a reference that names no gate: suspended, and said',
      undefined,
      kustomization({ annotations: { 'gate.fluxcd.io/gates': 'a/b/c' } }),
      { stored: kustomization({ annotations: INVALID, spec: { suspend: true } }), warning: /does not name a Gate/ },
    ),
    row(
      'such a reference can be repaired',
      kustomization({ annotations: INVALID, spec: { suspend: true } }),
      kustomization({ annotations: { ...INVALID, ...ASKING }, spec: { suspend: true } }),
      { gates: [openGate], stored: OPENED },
    ),
    row(
      'a user who resumes an object with such a reference learns why it stays suspended',
      kustomization({ annotations: INVALID, spec: { suspend: true } }),
      kustomization({ annotations: INVALID, spec: { suspend: false } }),
      { stored: 'old', warning: /^still suspended: a reference in gate.fluxcd.io\/gates names no Gate/ },
    ),
    row(
      'restored from a backup made behind the gate: what suspend was is not forgotten',
      undefined,
      kustomization({
        annotations: { ...ASKING, [MEMORY]: 'unset', [STATE]: 'closed: shop/freeze' },
        spec: { suspend: true },
      }),
      { gates: [openGate], stored: OPENED },
    ),
    // A Gate that selects the object.
    row(
      'a Gate that selects the object suspends it',
      kustomization({ annotations: {} }),
      kustomization({ annotations: { [MARK]: 'shop/all' } }),
      { gates: [selecting], stored: marked({ [MARK]: 'shop/all' }) },
    ),
    row(
      'a mark for a Gate that does not select the object is dropped',
      kustomization({ annotations: {} }),
      kustomization({ annotations: { note: '', [MARK]: 'ops/all,shop/gone,shop/plain' } }),
      {
        gates: [gate('ops/all', { selects: {} }), gate('shop/plain')],
        stored: kustomization({ annotations: { note: '' } }),
      },
    ),
    row(
      'a misspelt annotation gets a Warning',
      kustomization({ annotations: {} }),
      kustomization({ annotations: { 'gate.fluxcd.io/gate': 'freeze' } }),
      { stored: 'sent', warning: /^annotation gate\.fluxcd\.io\/gate has no effect here: is it/ },
    ),
    row(
      'and only in the write that adds it',
      kustomization({ annotations: { 'rollout.kuberik.com/subsitute.APP.from': 'my-app' } }),
      kustomization({ annotations: { 'rollout.kuberik.com/subsitute.APP.from': 'my-app', note: '' } }),
      { stored: 'sent' },
    ),
    row('a mark that is removed comes back', marked({ [MARK]: 'shop/all' }), marked(), {
      gates: [selecting],
      stored: 'old',
    }),
    row(
      'a label changed by hand to leave the selection is refused',
      kustomization({ annotations: { [MARK]: 'shop/all' }, labels: { team: 'a' } }),
      kustomization({ annotations: { [MARK]: 'shop/all' }, labels: { team: 'b' } }),
      {
        gates: [gate('shop/all', { selects: { labelSelector: { matchLabels: { team: 'a' } } } })],
        denial: /metadata\.labels\.team/,
      },
    ),
    row(
      'the Gate of another namespace selects by the labels of the Namespace',
      kustomization({ annotations: { [MARK]: 'ops/all' } }),
      kustomization({ annotations: { [MARK]: 'ops/all' }, spec: { path: 'x' } }),
      {
        gates: [gate('ops/all', { selects: { namespaceSelector: { matchLabels: { env: 'prod' } } } })],
        namespaceLabels: { env: 'prod' },
        denial: /Gate 'ops\/all' is closed/,
      },
    ),
  ]);
});
