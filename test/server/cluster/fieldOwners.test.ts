import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutFieldOwners } from '../../../server/cluster/fieldOwners.ts';

const object = (annotations: object, ...owners: object[]) => ({
  metadata: { annotations, managedFields: owners.map((fieldsV1) => ({ manager: 'm', time: 't', fieldsV1 })), uid: 'u' },
  spec: { path: './a' },
});
const owned = { 'f:spec': { 'k:{"name":"a}]\\""}': { '.': {}, 'f:name': {} }, 'v:"x"': {} } };

it.each([
  ['keeps the rest of the entry, and of the object', object({}, owned, owned), object({}, {}, {})],
  ['reads to the end of a list in it', object({}, { a: [{ b: ['}'] }] }), object({}, {})],
  ['leaves a text of this name', object({ fieldsV1: '{}' }, owned), object({ fieldsV1: '{}' }, {})],
  ['leaves a key that ends like it', object({ 'x"fieldsV1': '{' }, owned), object({ 'x"fieldsV1': '{' }, {})],
  [
    'leaves the same in a text',
    object({ a: JSON.stringify(object({}, owned)) }),
    object({ a: JSON.stringify(object({}, owned)) }),
  ],
  ['leaves an object without owners', object({}), object({})],
])('%s', (_, before, after) => {
  expect(JSON.parse(withoutFieldOwners(JSON.stringify(before)))).toEqual(after);
});

it('any other JSON stays as it is', () => {
  const key = fc.oneof(fc.constant('fieldsV1'), fc.string());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.integer(),
      fc.dictionary(key, tie('value')),
      fc.array(tie('value')),
    ),
  }));
  const isMap = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
  const emptied = (name: string, each: unknown) => (name === 'fieldsV1' && isMap(each) ? {} : each);
  fc.assert(
    fc.property(value, (each) => {
      const json = JSON.stringify(each);
      expect(JSON.parse(withoutFieldOwners(json))).toEqual(JSON.parse(json, emptied));
    }),
  );
});
