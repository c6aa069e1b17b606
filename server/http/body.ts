/** Request bodies, counted as they arrive: Content-Length is ignored, and nothing is decompressed. */
import type { IncomingMessage } from 'node:http';
import type { UnreadBody } from '../../api/ports.ts';
import { jsonMemory } from '../../core/collection/memoryLimit.ts';
import type { FairShare, Part } from './fairShare.ts';
import { SERVER_LIMITS } from './serverLimits.ts';
import { BEGINNING_BYTES } from './subject.ts';

export class BodyError extends Error {
  readonly status: 400 | 408 | 413 | 415 | 429;
  /** Set if the body is only too large or too slow, or the server too busy. */
  readonly unread: UnreadBody | undefined;
  constructor(status: BodyError['status'], message: string, unread?: Omit<UnreadBody, 'message'>) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
    this.unread = unread && { ...unread, message };
  }
}

/** The error for a complete body that this server has no capacity for now. */
export const readButBusy = (bytes: Buffer, message: string) =>
  new BodyError(429, message, { why: 'busy', ...startOf(bytes) });

/** The error for a complete body that takes too much memory when it is parsed; undefined if it may be parsed. */
export function memoryError(bytes: Buffer, memory: number, inUse: number): BodyError | undefined {
  const most = SERVER_LIMITS.bodyMemoryAtOnce;
  if (memory > most) {
    const message = `the body takes more than ${most} bytes of memory: it has too many fields`;
    return new BodyError(413, message, { why: 'tooLarge', ...startOf(bytes) });
  }
  return inUse + memory > most ? readButBusy(bytes, TOO_MANY_BODIES) : undefined;
}

const startOf = (bytes: Buffer) => ({
  beginning: Promise.resolve(bytes.subarray(0, BEGINNING_BYTES).toString('utf8')),
});

/** Bytes of each body that don't count, so that other callers' large bodies never keep a small one out. */
export const SMALL_BYTES = 256 * 1024;

const charge = (bytes: number) => Math.max(0, bytes - SMALL_BYTES);

/** The parsed body's part of `bodyMemoryAtOnce`. */
export const memoryOf = (bytes: Buffer) => charge(jsonMemory(bytes));

interface BodyLimits {
  maxBytes: number;
  /** The limit for all bodies. A body that is still arriving is dropped in favour of an address that uses less. */
  share: FairShare;
  /** Milliseconds until a body is complete. */
  completeMs: number;
}

export interface Body {
  bytes: Buffer;
  /** Releases the body's part of the limit. */
  release(): void;
}

/** The body of the request. The caller must release it. @throws BodyError; then there is nothing to release */
export function readBody(request: IncomingMessage, { maxBytes, share, completeMs }: BodyLimits): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let arriving = true;
    const part: Part = {
      address: request.socket.remoteAddress ?? '',
      mayGiveWay: () => arriving,
      giveWay: () => refuse(429, TOO_MANY_BODIES),
    };
    const stop = () => {
      arriving = false;
      clearTimeout(deadline);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose).on('error', ignore);
    };
    const refuse = (status: BodyError['status'], message: string) => {
      if (!arriving) return;
      stop();
      share.remove(part);
      // The rest is read and discarded: the sender reads our answer only after it has sent everything.
      request.resume();
      const why = UNREAD[status];
      // The rest of a slow body is not awaited.
      const beginning =
        why === 'slow' ? Promise.resolve(firstOf(chunks).toString('utf8')) : beginningOf(request, chunks);
      reject(new BodyError(status, message, why && { why, beginning }));
    };
    const onData = (chunk: Buffer) => {
      if (size + chunk.length > maxBytes) return refuse(413, `the body is larger than ${maxBytes} bytes`);
      if (!share.grow(part, charge(size + chunk.length) - charge(size))) return refuse(429, TOO_MANY_BODIES);
      size += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = () => {
      stop();
      resolve({ bytes: Buffer.concat(chunks), release: () => share.remove(part) });
    };
    const onClose = () => refuse(400, 'the connection closed before the end of the body');
    const late = () => refuse(408, `the body was not complete within ${completeMs / 1000} s`);
    // setImmediate: what has arrived while this process was busy is read first.
    const deadline = setTimeout(() => setImmediate(late), completeMs);

    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      refuse(415, 'the body has a Content-Encoding: send it unencoded');
    } else if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      refuse(413, `the body is larger than ${maxBytes} bytes`);
    } else {
      request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    }
  });
}

const TOO_MANY_BODIES = 'too many large bodies at once, try again in 1 s';

const UNREAD: { [status: number]: UnreadBody['why'] } = { 408: 'slow', 413: 'tooLarge', 429: 'busy' };

/** The first bytes of a body that is discarded, including the chunks that have arrived already. */
function beginningOf(request: IncomingMessage, chunks: readonly Buffer[]): Promise<string> {
  return new Promise((resolve) => {
    let bytes = firstOf(chunks);
    const end = () => {
      request.off('data', onData);
      request.socket.off('close', end);
      resolve(bytes.toString('utf8'));
    };
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]).subarray(0, BEGINNING_BYTES);
      if (bytes.length === BEGINNING_BYTES) end();
    };
    if (bytes.length === BEGINNING_BYTES || request.destroyed) end();
    else {
      request.on('data', onData).once('end', end);
      // A request that has been answered doesn't report the end of its connection.
      request.socket.once('close', end);
    }
  });
}

function firstOf(chunks: readonly Buffer[]): Buffer {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat(chunks, Math.min(size, BEGINNING_BYTES));
}

/** Ignores the error of a client that disconnects while its body is discarded. */
const ignore = () => {};

/** A JSON object or list; undefined for an empty body. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BodyError(400, 'the body is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new BodyError(400, 'the body is not JSON');
  return value;
}
