/**
 * The HTTP endpoint for audit events: one POST for each event. The address and credentials are files of a mounted
 * Secret.
 */
import { Agent, request } from 'undici';
import { type FileLog, mountedData, watchFiles } from '../fileWatch.ts';
import { retryAfterMs } from '../http/retryAfter.ts';
import { trustOf } from '../registry/trust.ts';
import type { SinkAnswer } from './outbox.ts';

const CERTIFICATES = ['ca.crt', 'tls.crt', 'tls.key'];

interface Sink {
  url: URL;
  authorization?: string;
  dispatcher: Agent;
  /** The Secret's JSON, to detect a change. */
  content: string;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The 4xx statuses after which the sink may take the event later. Any other rejects the event or the sender. */
const RETRIABLE = new Set([408, 429]);

/** The sink. It uses a changed Secret without a restart. @throws Error with a sentence for files it can't use */
export function createAuditSink(
  folder: string,
  log: FileLog,
): { post(body: string): Promise<SinkAnswer>; close(): Promise<void> } {
  const files = watchFiles<Sink>({
    what: 'sink',
    read: (before) => {
      const data = mountedData(folder, ['url', 'token', ...CERTIFICATES]);
      return before?.content === JSON.stringify(data) ? before : sinkOf(data);
    },
    isSame: (a, b) => a === b,
    // Closes the old Secret's connections once their running requests have finished.
    onChange: () => void files.current().dispatcher.close(),
    log,
  });
  return {
    post: (body) => post(files.current(), body),
    close: async () => {
      files.stop();
      await files.current().dispatcher.close();
    },
  };
}

/** The sink of a Secret. Error messages omit the Secret's values, since even the address may contain a token. */
function sinkOf(data: Record<string, string>): Sink {
  const text = (key: 'url' | 'token') =>
    Buffer.from(data[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const url = URL.parse(text('url'));
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error('the Secret of the sink needs url, an http or https URL');
  const token = text('token');
  // A line break would start another header.
  if (!/^[\x21-\x7e]*$/.test(token))
    throw new Error('token in the Secret of the sink is not a bearer token: write it in one line, without spaces');
  if (token && url.protocol === 'http:') throw new Error('the sink has a token, and its url is not https');
  const trust = CERTIFICATES.some((key) => key in data) ? trustOf(data) : {};
  if ('problem' in trust) throw new Error(`the Secret of the sink can't be used: ${trust.problem}`);
  return {
    url,
    ...(token && { authorization: `Bearer ${token}` }),
    dispatcher: new Agent({ maxResponseSize: MAX_ANSWER_BYTES, connect: { ...trust } }),
    content: JSON.stringify(data),
  };
}

async function post({ url, authorization, dispatcher }: Sink, body: string): Promise<SinkAnswer> {
  try {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'rollout-hooks',
        ...(authorization && { authorization }),
      },
      body,
    });
    await answer.dump();
    if (statusCode >= 200 && statusCode < 300) return { outcome: 'taken' };
    const isRefused = statusCode >= 400 && statusCode < 500 && !RETRIABLE.has(statusCode);
    const after = retryAfterMs(headers['retry-after']);
    return {
      outcome: isRefused ? 'refused' : 'failed',
      why: `status ${statusCode}`,
      ...(after && { retryAfterMs: after }),
    };
  } catch (error) {
    // Only the code: the message may contain the address.
    const { name, code, cause } = error as { name?: string; code?: string; cause?: { code?: string } };
    return { outcome: 'failed', why: code ?? cause?.code ?? name ?? 'no answer' };
  }
}
