import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { mutateGate, validateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { gate } from '../../core/gate/gate.ts';
import { day, type Step, stored, write } from './call.ts';

const OPEN = 'open.gate.fluxcd.io/requestedAt';
const CLOSE = 'close.gate.fluxcd.io/requestedAt';
const FOR = 'open.gate.fluxcd.io/for';
const CLOSE_REASON = 'close.gate.fluxcd.io/reason';

describe('a reason belongs to the user who gave it', () => {
  const closedFor = (text: string) => ({
    at: '10:00:00',
    user: 'admin',
    annotate: { [CLOSE]: day('10:00:00'), [CLOSE_REASON]: text },
  });
  const again = { [CLOSE]: day('10:05:00') };

  it.each<[rule: string, steps: Step[], reason: string | undefined]>([
    [
      'somebody else who gives none has none',
      [closedFor('INC-50'), { at: '10:05:00', user: 'sre', annotate: again }],
      undefined,
    ],
    [
      'who gives another has that',
      [closedFor('INC-50'), { at: '10:05:00', user: 'sre', annotate: { ...again, [CLOSE_REASON]: 'INC-51' } }],
      'INC-51',
    ],
    [
      'who asks again means the same',
      [closedFor('nightly'), { at: '10:05:00', user: 'admin', annotate: again }],
      'nightly',
    ],
    [
      'also after an opening in between',
      [
        closedFor('nightly'),
        { at: '10:02:00', user: 'sre', annotate: { [OPEN]: day('10:02:00') } },
        { at: '10:05:00', user: 'admin', annotate: again },
      ],
      'nightly',
    ],
    [
      'a request without a reason makes the one that stands there nobody else’s',
      [
        closedFor('INC-50'),
        { at: '10:05:00', user: 'sre', annotate: again },
        { at: '10:06:00', user: 'sre', annotate: { [CLOSE]: day('10:06:00') } },
      ],
      undefined,
    ],
  ])('%s', async (_rule, steps, reason) => {
    const gate = await stored({ default: 'opened' }, steps);
    expect(evaluateGate(gate, Date.parse(day('10:10:00'))).request?.reason).toBe(reason);
  });

  it('and a user without one gets a Warning, also about a version that narrows an earlier opening', async () => {
    const object = gate(
      { default: 'closed' },
      { [OPEN]: day('10:00:00'), [FOR]: '1.0.0', 'open.gate.fluxcd.io/reason': 'CHG-1' },
    );
    const first = await write([mutateGate, validateGate], { object, at: day('10:00:00'), user: 'admin' });
    const before = first.object as Gate;
    const next = {
      ...before,
      metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, [OPEN]: day('10:05:00') } },
    };
    const second = await write([mutateGate, validateGate], {
      object: next,
      old: before,
      at: day('10:05:00'),
      user: 'sre',
    });
    expect(second.warnings).toEqual([
      'no reason recorded: open.gate.fluxcd.io/reason belongs to an earlier request of another user',
      'opens for 1.0.0 only, because open.gate.fluxcd.io/for is still set; remove it to open for all',
    ]);
  });
});
