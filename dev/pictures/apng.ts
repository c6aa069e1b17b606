/**
 * Animated PNGs, from pictures of one size: the frames' compressed data in other chunks. https://www.w3.org/TR/png-3/
 */
import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export interface Frame {
  /** A PNG. All have one size and one color type. */
  png: Buffer;
  milliseconds: number;
}

/** The animated PNG, which repeats forever. */
export function animated(frames: readonly Frame[]): Buffer {
  const pictures = frames.map(({ png }) => chunksOf(png));
  const header = dataOf(pictures[0]!, 'IHDR');
  let sequence = 0;
  const numbered = (length: number) => {
    const data = Buffer.alloc(length);
    data.writeUInt32BE(sequence++);
    return data;
  };
  const body = pictures.flatMap((chunks, index) => {
    if (!dataOf(chunks, 'IHDR').equals(header)) throw new Error(`Frame ${index} has another size or color type.`);
    // Width and height as in IHDR, at 0 0; the frame stays until the next one replaces it.
    const control = numbered(26);
    header.copy(control, 4, 0, 8);
    control.writeUInt16BE(frames[index]!.milliseconds, 20);
    control.writeUInt16BE(1000, 22);
    const parts = chunks.filter(({ type }) => type === 'IDAT');
    const data =
      index === 0
        ? parts.map(({ data }) => chunk('IDAT', data))
        : parts.map(({ data }) => chunk('fdAT', Buffer.concat([numbered(4), data])));
    return [chunk('fcTL', control), ...data];
  });
  const count = Buffer.alloc(8);
  count.writeUInt32BE(frames.length);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('acTL', count),
    ...body,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

function dataOf(chunks: readonly Chunk[], type: string): Buffer {
  const found = chunks.find((each) => each.type === type);
  if (!found) throw new Error(`This PNG has no ${type}.`);
  return found.data;
}

/** Length, type, data, and the checksum of the last two. */
function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length);
  ends.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}
