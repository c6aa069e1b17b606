/** What `doctor` says of a closed Gate that Flux acts behind. */
import { expect, it } from 'vitest';
import { absentFindings } from '../../../client/explain/doctor/waits.ts';
import { gate } from '../../core/hold/objects.ts';

it('names an object that nothing suspends, and why', () => {
  const [first] = [
    { kind: 'Kustomization', namespace: 'shop', name: 'web', reason: 'NotMarked' as const, message: 'no room' },
  ];
  const leaky = { ...gate('ops/freeze'), status: { notHeld: 3, notHeldObjects: [first] } };
  expect(absentFindings({ gates: [leaky as never] })).toMatchObject([
    {
      text: expect.stringContaining(
        'Gate ops/freeze is closed and does not hold 3 Flux objects, Kustomization shop/web among them: no room',
      ),
    },
  ]);
  expect(absentFindings({ gates: [{ ...gate('ops/freeze'), status: {} } as never] })).toEqual([]);
});
