/** The same results as a search of all added values. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByVersion, isSameImage } from '../../../core/budget/imageVersion.ts';

const version = fc.record({
  image: fc.constantFrom('shop', 'cart'),
  tag: fc.constantFrom('1.0.0', '1.1.0'),
  digest: fc.constantFrom(undefined, undefined, 'a', 'b', 'c'),
});
const added = fc.array(fc.record({ version, id: fc.constantFrom('x', 'y', 'z') }), { maxLength: 60 });

it('finds equal versions, once for each id, for any number', () => {
  fc.assert(
    fc.property(added, version, (entries, asked) => {
      const known = new ByVersion<number>();
      entries.forEach(({ version: of, id }, place) => {
        known.add(of, id, place);
      });
      const same = entries.flatMap(({ version: of, id }, place) => (isSameImage(of, asked) ? [{ of, id, place }] : []));
      const ids = new Set(same.map(({ id }) => id));
      expect(known.first(asked)).toBe(same[0]?.place);
      expect(known.count(asked)).toBe(ids.size);
      expect(new Set(known.of(asked).map((place) => entries[place]!.id))).toEqual(ids);
      expect(known.of(asked)).toHaveLength(ids.size);
    }),
    { numRuns: 300 },
  );
});
