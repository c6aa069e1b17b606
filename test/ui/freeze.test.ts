import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandOf } from '../../client/actions/lines.ts';
import { FROZEN_KINDS } from '../../client/actions/writes/freeze.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import {
  type Freeze,
  formProblem,
  freezeOf,
  plannedFreeze,
  presets,
  queryOf,
  requestOf,
} from '../../ui/gates/freeze.ts';
import { formatAddress, parseAddress } from '../../ui/state/address.ts';

const name = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/);
const freezes: fc.Arbitrary<Freeze> = fc
  .record({
    when: fc.constantFrom('now' as const, 'planned' as const, 'weekly' as const),
    name: fc.oneof(name, fc.constant('')),
    namespace: name,
    isOfAll: fc.boolean(),
    kinds: fc.subarray([...FROZEN_KINDS]),
    lasts: fc.constantFrom('', '1h', '24h', '20h13m', 'no time'),
    from: fc.constantFrom('', '2026-11-27T09:00:00Z'),
    days: fc.subarray(DAYS),
    hours: fc.constantFrom('', '16:00-08:00', 'never'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
  })
  .map((freeze) => (freeze.when === 'weekly' ? freeze : { ...freeze, timezone: 'UTC' }));

/** The value after a round trip through an address, for a reader in another namespace. */
const shared = (freeze: Freeze) => {
  const address = formatAddress({ page: 'gates', query: { do: 'freeze', ...queryOf(freeze) } });
  return freezeOf(parseAddress(address).query, 'elsewhere', 'UTC');
};

describe('a freeze in the making', () => {
  it('is the same at its address', () => {
    fc.assert(
      fc.property(freezes, (freeze) => {
        expect(shared(freeze)).toEqual(freeze);
      }),
    );
  });

  it('ignores unknown values in an address', () => {
    const freeze = freezeOf({ when: 'soon', kinds: 'Secret,Rollout', days: 'Caturday', from: 'then' }, 'shop', 'UTC');
    expect(freeze).toMatchObject({ when: 'now', kinds: ['Rollout'], days: [], from: '', lasts: '24h' });
    // Without its time, a planned freeze must not become one from now.
    const dated = freezeOf({ when: 'planned', from: '2026-11-27' }, 'shop', 'UTC');
    expect(formProblem(dated)).toBe('Choose when it begins.');
  });

  it('begins where the calendar was dragged', () => {
    const from = new Date('2026-11-27T09:00:00Z');
    const freeze = freezeOf(plannedFreeze(from, '4h'), 'shop', 'UTC');
    expect(formProblem(freeze)).toBeUndefined();
    expect(requestOf(freeze, 'freeze', 'INC-42')).toMatchObject({
      type: 'freeze',
      freeze: { at: from.getTime(), lasts: 4 * 3_600_000 },
    });
  });

  it('is on some hours of some days, in all namespaces, and so is its command', () => {
    const query = { when: 'weekly', days: 'Friday', between: '16:00-08:00', all: 'true' };
    const request = requestOf(freezeOf(query, 'shop', 'Europe/Berlin'), 'no-fridays', '');
    expect(request.freeze).toEqual({
      every: { days: ['Friday'], hours: { start: '16:00', end: '08:00' }, timezone: 'Europe/Berlin' },
      selects: { kinds: FROZEN_KINDS, namespaceSelector: {} },
    });
    expect(commandOf(request)).toBe(
      "kubectl rollouts freeze no-fridays --kinds Kustomization,HelmRelease,Rollout --namespace-selector '' " +
        '--every Friday --between 16:00-08:00 --timezone Europe/Berlin -n shop',
    );
  });

  it.each([
    ['2026-11-24T12:00:00', ['1h', '4h', '24h', '21h', '141h', '']],
    // A Sunday: its tomorrow is Monday.
    ['2026-11-29T12:00:00', ['1h', '4h', '24h', '21h', '']],
    ['2026-11-30T12:30:00', ['1h', '4h', '24h', '20h30m', '164h30m', '']],
  ])('on %s is offered the usual ends', (from, ends) => {
    expect(presets(new Date(from)).map(([lasts]) => lasts)).toEqual(ends);
  });
});
