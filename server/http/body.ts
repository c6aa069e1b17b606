/** Request bodies, counted as they arrive: Content-Length is not believed, and nothing is decompressed. */
import type { IncomingMessage } from 'node:http';
import { BEGINNING_BYTES } from './subject.ts';

export class BodyError extends Error {
  readonly status: 400 | 413 | 415 | 429;
  /** Of a body that is too large: it says what it is about. */
  readonly beginning: Promise<Buffer> | undefined;
  constructor(status: BodyError['status'], message: string, beginning?: Promise<Buffer>) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
    this.beginning = beginning;
  }
}

/** A number of bytes that several bodies share. */
export interface ByteBudget {
  /** False when there are not so many left. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}

/** Bytes of a body that take nothing from the budget: nobody's large bodies keep a small one out. */
export const SMALL_BYTES = 256 * 1024;

const charge = (bytes: number) => Math.max(0, bytes - SMALL_BYTES);

/** Gives back what `readBody` took for a body of this size. */
export function giveBack(bytes: number, budget: ByteBudget): void {
  budget.give(charge(bytes));
}

/** Takes the body's bytes from the budget; the caller gives them back, except where this rejects with a BodyError. */
export function readBody(request: IncomingMessage, maxBytes: number, budget: ByteBudget): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (status: BodyError['status'], message: string) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose).on('error', ignore);
      giveBack(size, budget);
      // The rest is read and discarded: the sender reads our answer only after it has sent everything.
      request.resume();
      reject(new BodyError(status, message, status === 413 ? beginningOf(request, chunks) : undefined));
    };
    const onData = (chunk: Buffer) => {
      if (size + chunk.length > maxBytes) return refuse(413, `the body is larger than ${maxBytes} bytes`);
      if (!budget.take(charge(size + chunk.length) - charge(size)))
        return refuse(429, 'too many large bodies at once, try again in 1 s');
      size += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = () => {
      request.off('close', onClose);
      resolve(Buffer.concat(chunks));
    };
    const onClose = () => refuse(400, 'the connection closed before the end of the body');

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

/** The first bytes, of those that came and those that are discarded. */
function beginningOf(request: IncomingMessage, chunks: readonly Buffer[]): Promise<Buffer> {
  return new Promise((resolve) => {
    let bytes = Buffer.concat(chunks).subarray(0, BEGINNING_BYTES);
    const end = () => {
      request.off('data', take);
      resolve(bytes);
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]).subarray(0, BEGINNING_BYTES);
      if (bytes.length === BEGINNING_BYTES) end();
    };
    if (bytes.length === BEGINNING_BYTES || request.destroyed) end();
    else request.on('data', take).once('end', end).once('close', end);
  });
}

/** The sender left while we discarded its bytes. */
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
