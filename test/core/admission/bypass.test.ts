/** docs/reference/writes.md, W21: what becomes of a bypass. */

import { describe } from 'vitest';
import { deployment, gate } from './objects.ts';
import { BY, closedGate, frozen, itDecides, MEMORY, REASON, STATE, without } from './writes.ts';

describe('one write of a gated Kustomization past a closed gate', () => {
  itDecides([
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
      warning: /^stored, but still suspended/,
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
      says: 'a second gate that opens between two calls for one write, the first of which suspended it, leaves it as it was',
      old: without(frozen({ annotations: { [STATE]: 'bypassed: shop/freeze' }, spec: { suspend: false } }), MEMORY),
      object: frozen({ annotations: { [STATE]: 'closed: shop/freeze,shop/two', [MEMORY]: 'false' } }),
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
        annotations: {
          [MEMORY]: 'false',
          [STATE]: 'closed: shop/freeze,shop/two',
          'gate.fluxcd.io/gates': 'freeze,two',
        },
      }),
    },
    {
      says: 'the record of a reason is ours: no writer changes its author or time',
      old: frozen({ annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T08:00:00Z sre' } }),
      object: frozen({ annotations: { [REASON]: 'INC-1', [BY]: '2026-03-04T10:00:00Z mallory' } }),
      stored: 'old',
    },
    {
      says: 'a bypass that is refused: the denial says why',
      old: frozen(),
      object: frozen({ annotations: { [REASON]: 'please' }, spec: { path: 'x' } }),
      bypass: { granted: false, refused: 'developer lacks the verb bypass on shop/freeze' },
      denial: /Bypass refused: developer lacks the verb bypass on shop\/freeze/,
    },
  ]);
});
