import { deflateSync, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { animated, chunk, chunksOf } from '../../../dev/preview/apng.ts';

/** One row of grey pixels. */
function png(pixels: number[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels.length);
  header.writeUInt32BE(1, 4);
  header[8] = 8;
  const data = deflateSync(Buffer.from([0, ...pixels]));
  const parts = [data.subarray(0, 5), data.subarray(5)].map((part) => chunk('IDAT', part));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), ...parts, chunk('IEND', Buffer.alloc(0))]);
}

it('is the frames, in the order in which they come, each with its time and its own pixels', () => {
  const moving = animated([
    { png: png([1, 2, 3]), milliseconds: 500 },
    { png: png([4, 5, 6]), milliseconds: 2000 },
  ]);
  const chunks = chunksOf(moving);
  expect(chunks.map(({ type }) => type).join(' ')).toBe('IHDR acTL fcTL IDAT IDAT fcTL fdAT fdAT IEND');
  const data = (type: string) => chunks.filter((each) => each.type === type).map((each) => each.data);
  expect(data('acTL')[0]!.readUInt32BE()).toBe(2);
  expect(data('fcTL').map((each) => each.readUInt16BE(20) / each.readUInt16BE(22))).toEqual([0.5, 2]);
  const numbered = chunks.filter(({ type }) => type === 'fcTL' || type === 'fdAT');
  expect(numbered.map((each) => each.data.readUInt32BE())).toEqual([0, 1, 2, 3]);
  expect([...inflateSync(Buffer.concat(data('IDAT')))]).toEqual([0, 1, 2, 3]);
  expect([...inflateSync(Buffer.concat(data('fdAT').map((each) => each.subarray(4))))]).toEqual([0, 4, 5, 6]);
});

it('has frames of one size', () => {
  const frames = [png([1]), png([1, 2])].map((each) => ({ png: each, milliseconds: 100 }));
  expect(() => animated(frames)).toThrow('Frame 1 has another size');
});
