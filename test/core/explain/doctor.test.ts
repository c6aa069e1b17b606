import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../../api/generated/schemas.ts';
import type { Gate } from '../../../api/types.ts';
import { type Schema, schemaFindings } from '../../../core/explain/doctor/schemas.ts';
import { behind } from '../../../core/explain/doctor/waits.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');

const gate = (generation: number, status?: object, creationTimestamp = '2026-11-25T09:00:00Z'): Gate =>
  objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'freeze', generation, creationTimestamp },
    spec: { default: 'opened' },
    ...(status && { status }),
  } as never);

describe('nobody looks after', () => {
  it.each<[string, Gate, boolean]>([
    ['what is of another generation than its status', gate(2, { observedGeneration: 1 }), true],
    ['what has no status after a minute', gate(1), true],
    [
      'what should have changed minutes ago',
      gate(1, { observedGeneration: 1, nextTransition: '2026-11-25T09:58:00Z' }),
      true,
    ],
    ['what has just been made', gate(1, undefined, '2026-11-25T09:59:50Z'), false],
    ['what is about to change', gate(1, { observedGeneration: 1, nextTransition: '2026-11-25T09:59:58Z' }), false],
    ['what is as it should be', gate(1, { observedGeneration: 1 }), false],
  ])('%s: %o', (_, object, isBehind) => {
    expect(behind([object], NOW)).toEqual(isBehind ? ['Gate shop/freeze'] : []);
  });
});

describe('a CRD', () => {
  const known = SCHEMAS.Gate as { properties: Record<string, Schema> };
  const without = (field: string) => {
    const { [field]: _, ...spec } = known.properties.spec!.properties!;
    return { properties: { ...known.properties, spec: { properties: spec } } };
  };

  it('as this command knows it is fine', () => {
    expect(schemaFindings('Gate', 'gates', known)).toEqual([]);
  });

  it('that lacks a field is older, and one that has another is newer', () => {
    expect(schemaFindings('Gate', 'gates', without('window'))[0]?.text).toMatch(
      /is older than this command: it does not have spec\.window/,
    );
    const more = {
      properties: { ...known.properties, spec: { properties: { ...known.properties.spec!.properties, later: {} } } },
    };
    expect(schemaFindings('Gate', 'gates', more)[0]?.text).toMatch(
      /is newer than this command, which does not know spec\.later/,
    );
  });
});
