/** docs/reference/writes.md, W21: the end of a bypass. */

import { describe, expect, it } from 'vitest';
import { BYPASSED_GATES } from '../../../api/annotations.ts';
import {
  decide,
  deployment,
  gate,
  gatesByName,
  type KustomizationParts,
  NOW,
  rollout,
  rolloutsByName,
} from './objects.ts';
import { BY, closedGate, frozen, GIT, git, itDecides, MARK, MEMORY, REASON, row, STATE, without } from './writes.ts';

const at110 = { deployed: deployment('my-app', 2, '1.1.0'), substitute: { APP: '1.1.0' } };
const granted = { bypass: { granted: true as const, gates: [], reason: '' }, user: 'admin' };
const BYPASSED = { [STATE]: 'bypassed: shop/freeze' };
/** An object that bypasses its closed Gate. */
const running = (annotations: Record<string, string>, spec: object = {}) =>
  without(frozen({ annotations, spec: { suspend: false, ...spec } }), MEMORY);
const BOTH = { 'gate.fluxcd.io/gates': 'freeze,two' };

describe('a write that bypasses the closed Gate of a Kustomization', () => {
  itDecides([
    row(
      'with a bypass an edit passes and is recorded; the object stays suspended',
      frozen({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } }),
      frozen({ annotations: { [REASON]: 'INC-1' }, spec: { path: './fix' }, ...at110 }),
      {
        ...granted,
        stored: frozen({
          annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z admin' },
          spec: { path: './fix' },
          ...at110,
        }),
        warning: /^stored, but still suspended/,
      },
    ),
    row(
      'with a bypass suspend may be lifted, and the state says so',
      frozen(at110),
      frozen({ ...at110, annotations: { [REASON]: 'INC-1' }, spec: { suspend: false } }),
      {
        ...granted,
        stored: without(
          frozen({
            ...at110,
            annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z admin', ...BYPASSED },
            spec: { suspend: false },
          }),
          MEMORY,
        ),
      },
    ),
    row(
      'after that the object runs, and still nobody else may change it',
      running(BYPASSED),
      running(BYPASSED, { path: 'x' }),
      { denial: /spec\.path/ },
    ),
    row(
      'a second gate that closes suspends it again',
      running({ ...BYPASSED, ...BOTH }),
      running({ [STATE]: 'x', ...BOTH }),
      {
        gates: [closedGate, gate('shop/two')],
        stored: frozen({ annotations: { [MEMORY]: 'false', [STATE]: 'closed: shop/freeze,shop/two', ...BOTH } }),
      },
    ),
    row(
      'the record of a reason is ours: no writer changes its author or time',
      frozen({ annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T08:00:00Z sre' } }),
      frozen({ annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z mallory' } }),
      { stored: 'old' },
    ),
    row(
      'a bypass that is denied: the message says why',
      frozen(),
      frozen({ annotations: { [REASON]: 'please' }, spec: { path: 'x' } }),
      {
        bypass: { granted: false, why: "developer isn't allowed to bypass Gate shop/freeze (verb bypass)" },
        denial: /Bypass denied: developer isn't allowed to bypass Gate shop\/freeze/,
      },
    ),
  ]);
});

describe('while a deployment bypasses the closed gate, a sync', () => {
  const hotfix = rollout('my-app', '1.1.0', '1.0.0');
  hotfix.metadata.annotations = { [BYPASSED_GATES]: '1.1.0 (2) 2026-03-04T09:59:00Z: shop/freeze' };
  hotfix.status!.history![0]!.timestamp = '2026-03-04T09:59:00Z';
  const ran = { lastAppliedRevision: '1.0.0@sha256:1', observedGeneration: 3 };
  const web = 'rollout.kuberik.com/substitute.WEB.from';
  const managedFields = [git('spec.sourceRef.name', `annotation:${web}`)];

  it.each<[does: string, parts: KustomizationParts, version: string]>([
    ['gets its version', { labels: { team: 'shop' } }, '1.1.0'],
    ['from another source does not', { spec: { sourceRef: { kind: 'GitRepository', name: 'fork' } } }, '1.0.0'],
    ['with other managed fields does not', { annotations: { [web]: 'my-app' } }, '1.0.0'],
    [
      'does not where another closed gate begins to select the object in it',
      { labels: { tier: 'front' }, annotations: { [MARK]: 'two' } },
      '1.0.0',
    ],
  ])('%s', (_, parts, version) => {
    const { object } = decide({
      object: frozen({ ...parts, managedFields, status: ran }),
      old: frozen({ status: ran }),
      context: {
        rollouts: rolloutsByName(hotfix),
        gates: gatesByName(
          closedGate,
          gate('shop/two', { selects: { labelSelector: { matchLabels: { tier: 'front' } } } }),
        ),
        now: NOW,
        applier: undefined,
      },
      user: 'flux',
      fieldManager: GIT,
    }) as { object: ReturnType<typeof frozen> };
    expect(object.spec?.postBuild).toMatchObject({ substitute: { APP: version } });
  });
});
