/** The record of who set the calendar of a Gate, when and why, which only the webhook writes. */
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { explainGate } from '../../../client/explain/kinds/explainGates.ts';
import { mutateGate } from '../../../webhooks/gate/gateAdmission.ts';
import { gate } from '../../core/gate/gate.ts';
import { day, write } from './call.ts';

const RECORD = 'gate.fluxcd.io/scheduled-by';
const REASON = 'rollout.kuberik.com/reason';
const FRIDAYS: Gate['spec'] = {
  default: 'opened',
  schedule: { timezone: 'UTC', action: 'Close', rules: [{ daysOfWeek: ['Friday'] }] },
};

async function stored(object: Gate, old?: Gate, user = 'alice'): Promise<Gate> {
  const { object: next } = await write(mutateGate, { object, old, user, at: day('10:00:00') });
  return next as Gate;
}

const noted = ({ metadata }: Gate) => JSON.parse(metadata.annotations?.[RECORD] ?? 'null');

describe('the record', () => {
  it('has the authenticated user and the reason, which is removed', async () => {
    const made = await stored(gate(FRIDAYS, { [REASON]: 'no Fridays' }));
    expect(noted(made)).toEqual({ by: 'alice', at: day('10:00:00'), reason: 'no Fridays' });
    expect(made.metadata.annotations).not.toHaveProperty([REASON]);
    expect(explainGate(made, Date.parse(day('11:00:00'))).causes.map(({ text }) => text)).toContain(
      `Its schedule was set by alice at ${day('10:00:00')}: no Fridays`,
    );
  });

  it('can’t be written by any user, and stays until the calendar changes', async () => {
    const made = await stored(gate(FRIDAYS));
    const forged = gate(FRIDAYS, { [RECORD]: '{"by":"carol","at":"2026-03-01T12:00:00Z"}' });
    expect(noted(await stored(forged, made, 'mallory'))).toMatchObject({ by: 'alice' });
    expect(noted(await stored(gate(FRIDAYS), made, 'mallory'))).toMatchObject({ by: 'alice' });
    const changed = { ...FRIDAYS, schedule: { ...FRIDAYS.schedule!, timezone: 'Europe/Zurich' } };
    expect(noted(await stored(gate(changed), made, 'bob'))).toMatchObject({ by: 'bob' });
    expect(noted(await stored(gate({ default: 'opened' }), made))).toBeNull();
  });
});
