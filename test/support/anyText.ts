import fc from 'fast-check';

/** Any character. fast-check's `unit: 'binary'` makes a map of all of them first, which takes 1.5 s in each worker. */
const character = fc
  .oneof(fc.nat(0x7f), fc.nat(0x2fff), fc.nat(0x10_ffff))
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Text of any well-formed characters. */
export const anyText = (size: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...size });
