/** Limits of request bodies, tested with raw bytes on a socket. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Route, UnreadBody } from '../../../api/ports.ts';
import { createApp } from '../../../server/http/app.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';
import { createLog } from '../../../server/log.ts';
import { createMetrics } from '../../../server/servedMetrics.ts';
import { eventually } from '../../support/eventually.ts';

const open: { server?: Server; sockets: Socket[] } = { sockets: [] };
afterEach(() => {
  for (const socket of open.sockets.splice(0)) socket.destroy();
  open.server?.closeAllConnections();
  open.server?.close();
});

/** Longer than a busy machine takes. */
const LONG_MS = 60_000;

/** A server whose one route answers when the test lets it. */
async function serve(more: Partial<Route> = {}, completeMs = LONG_MS, answerMs = LONG_MS) {
  const waiting: (() => void)[] = [];
  const route: Route = {
    ...more,
    path: '/slow',
    answer: () => new Promise<unknown>((resolve) => waiting.push(() => resolve({ answered: true }))),
  };
  const metrics = createMetrics();
  const log = createLog('silent');
  const warnings: object[] = [];
  log.warn = (about: object) => void warnings.push(about);
  const app = createApp({
    routes: [route],
    log,
    metrics,
    notReady: () => undefined,
    completeMs,
    answerMs,
  });
  return { ...(await listenWith(app)), waiting, metrics, warnings };
}

/** The port of the application, and a function that returns the bytes received so far. */
async function listenWith(app: ReturnType<typeof createApp>) {
  const server = createServer(app);
  open.server = server;
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const received = () => accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  return { port: (server.address() as AddressInfo).port, received };
}

/** Sends raw bytes; `answered` resolves to the status line of the answer. */
function raw(port: number, ...parts: (string | Buffer)[]): { socket: Socket; answered: Promise<string> } {
  return rawFrom('127.0.0.1', port, ...parts);
}

function rawFrom(localAddress: string, port: number, ...parts: (string | Buffer)[]) {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  open.sockets.push(socket);
  const answered = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString().split('\r\n')[0]!));
    socket.once('error', (error) => resolve(error.message));
  });
  for (const part of parts) socket.write(part);
  return { socket, answered };
}

const send = (port: number, body: string) => raw(port, head(`Content-Length: ${Buffer.byteLength(body)}`), body);

/** All that has come with the first bytes of the answer. */
async function textOf({ socket, answered }: ReturnType<typeof raw>): Promise<string> {
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  await answered;
  return text;
}

const head = (...lines: string[]) => ['POST /slow HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');
const small = `${head('Content-Length: 2')}{}`;
/** The largest body, as a request, and how many of them the server holds at once. */
const SIZE = SERVER_LIMITS.bodyBytes;
const LARGE = [head(`Content-Length: ${SIZE}`), `{${' '.repeat(SIZE - 2)}}`];
const FIT = Math.floor(SERVER_LIMITS.bodyBytesAtOnce / SIZE);

/** Lets the only request that waits be answered. */
async function isAnswered(waiting: (() => void)[], { answered }: ReturnType<typeof raw>): Promise<void> {
  await eventually(() => expect(waiting.length).toBe(1));
  waiting.pop()!();
  expect(await answered).toContain('200');
}

const connectionsAre = (count: number) =>
  eventually(async () => {
    const now = await new Promise((resolve) => open.server!.getConnections((_error, number) => resolve(number)));
    expect(now).toBe(count);
  });

describe('a body', () => {
  it('that is announced as too large is refused before it arrives', async () => {
    const { port } = await serve();
    const { answered } = raw(port, head(`Content-Length: ${SIZE + 1}`));
    expect(await answered).toContain('413');
  });

  it('that is too large is logged with its object, also if the sender ends with the answer', async () => {
    const { port, warnings } = await serve();
    const beginning = '{"object":{"apiVersion":"v1","kind":"Kind","metadata":{"name":"web"},';
    const { answered, socket } = raw(port, head(`Content-Length: ${SIZE + 1}`), beginning);
    await answered;
    socket.destroy();
    await eventually(() => expect(warnings).toEqual([{ route: '/slow', kind: 'Kind', name: 'web', status: 413 }]));
  });

  it('without a length is counted as it arrives', async () => {
    const { port } = await serve();
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const { answered, socket } = raw(port, head('Transfer-Encoding: chunked'));
    for (let i = 0; i < 8; i++) {
      socket.write(`${chunk.length.toString(16)}\r\n`);
      socket.write(chunk);
      socket.write('\r\n');
    }
    expect(await answered).toContain('413');
  });

  it('that is compressed is refused: a few bytes may be gigabytes', async () => {
    const { port } = await serve();
    const bytes = gzipSync(JSON.stringify({ a: ' '.repeat(5_000_000) }));
    const { answered } = raw(port, head('Content-Encoding: gzip', `Content-Length: ${bytes.length}`), bytes);
    expect(await answered).toContain('415');
  });

  it('gets 429 before it is read if too many requests are running', async () => {
    const { port, waiting } = await serve();
    const busy = Array.from({ length: SERVER_LIMITS.requestsAtOnce }, () => raw(port, small));
    await eventually(() => expect(waiting.length).toBe(busy.length));
    // None of its body has come.
    expect(await raw(port, head('Content-Length: 5000000')).answered).toContain('429');
    for (const answer of waiting) answer();
    for (const { answered } of busy) expect(await answered).toContain('200');
  });

  it('gets its route’s own answer in place of that 429, if there is one', async () => {
    const answerUnread = async ({ why, beginning }: UnreadBody) => ({ why, beginning: await beginning });
    const { port, waiting } = await serve({ answerUnread });
    const busy = Array.from({ length: SERVER_LIMITS.requestsAtOnce }, () => raw(port, small));
    await eventually(() => expect(waiting.length).toBe(busy.length));
    const text = await textOf(raw(port, head('Content-Length: 9'), '{"uid":1}'));
    expect(text).toContain('200');
    expect(text).toContain('"why":"busy","beginning":"{\\"uid\\":1}"');
    for (const answer of waiting) answer();
  });

  it('waits for others of its namespace, and for none of another', async () => {
    const { answeredOfNamespace, requestsAtOnce } = SERVER_LIMITS;
    const { port, waiting } = await serve({ namespaceOf: (body) => (body as { namespace: string }).namespace });
    const of = (namespace: string) => send(port, JSON.stringify({ namespace }));
    const many = Array.from({ length: requestsAtOnce / 2 + 1 }, () => of('many').answered);
    expect(await Promise.race(many)).toContain('429');
    expect(waiting.length).toBe(answeredOfNamespace);
    const other = of('other');
    await eventually(() => expect(waiting.length).toBe(answeredOfNamespace + 1));
    waiting.pop()!();
    expect(await other.answered).toContain('200');
    for (let i = 1; i < many.length; i++) {
      await eventually(() => expect(waiting.length).toBeGreaterThan(0));
      waiting.shift()!();
    }
    expect((await Promise.all(many)).filter((line) => line.includes('200')).length).toBe(many.length - 1);
  });

  it('is not answered if its caller has gone while it waited', async () => {
    const { answeredOfNamespace } = SERVER_LIMITS;
    const { port, waiting } = await serve({ namespaceOf: () => 'many' });
    const many = Array.from({ length: answeredOfNamespace }, () => raw(port, small));
    await eventually(() => expect(waiting.length).toBe(answeredOfNamespace));
    const { socket } = raw(port, small);
    await connectionsAre(many.length + 1);
    socket.destroy();
    await connectionsAre(many.length);
    const next = raw(port, small);
    await connectionsAre(many.length + 1);
    for (const answer of waiting.splice(0)) answer();
    for (const { answered } of many) expect(await answered).toContain('200');
    await eventually(() => expect(waiting.length).toBeGreaterThan(0));
    waiting.pop()!();
    expect(await next.answered).toContain('200');
    expect(waiting).toEqual([]);
  });

  it('is refused while others fill the memory, and accepted when they are answered', async () => {
    const { port, waiting } = await serve();
    const held = Array.from({ length: FIT }, () => raw(port, ...LARGE));
    await eventually(() => expect(waiting.length).toBe(FIT));
    expect(await raw(port, ...LARGE).answered).toContain('429');
    // Large bodies don't block a small one.
    const other = raw(port, small);
    await eventually(() => expect(waiting.length).toBeGreaterThan(FIT));
    waiting.pop()!();
    expect(await other.answered).toContain('200');
    for (const answer of waiting) answer();
    for (const { answered } of held) expect(await answered).toContain('200');
    const later = raw(port, ...LARGE);
    await eventually(() => expect(waiting.length).toBeGreaterThan(FIT));
    waiting.at(-1)!();
    expect(await later.answered).toContain('200');
  });

  it('whose lists and maps take too much memory is refused, however few bytes it has', async () => {
    const { port } = await serve();
    expect(await send(port, '['.repeat(2_500_000) + ']'.repeat(2_500_000)).answered).toContain('413');
    expect(await send(port, `[${'{},'.repeat(1_200_000)}0]`).answered).toContain('413');
  });

  it('is refused as busy while others fill the memory with their lists and maps', async () => {
    const { port, waiting, metrics } = await serve();
    const many = `[${'{},'.repeat(600_000)}0]`;
    const first = send(port, many);
    await eventually(() => expect(waiting.length).toBe(1));
    expect(await send(port, many).answered).toContain('429');
    expect(await metrics.text()).toContain('outcome="busy"} 1');
    waiting.pop()!();
    expect(await first.answered).toContain('200');
    await isAnswered(waiting, send(port, many));
  });

  it('with lists and maps in its texts alone is accepted', async () => {
    const { port, waiting } = await serve();
    await isAnswered(waiting, send(port, JSON.stringify(['[]{},:"\\\\'.repeat(500_000)])));
  });

  it.each<[UnreadBody['why'], number]>([
    ['tooLarge', SIZE + 1],
    ['busy', SIZE],
  ])('that is refused has the answer that its route gives in place of an error: %s', async (expected, size) => {
    const { port, waiting } = await serve({
      answerUnread: async ({ why, message, beginning }: UnreadBody) =>
        why === expected && { message, beginning: (await beginning).slice(0, 8) },
    });
    const large = (length: number) => [head(`Content-Length: ${length}`), `{"uid":1${' '.repeat(length - 9)}}`];
    for (let i = 0; i < FIT; i++) raw(port, ...large(SIZE));
    await eventually(() => expect(waiting.length).toBe(FIT));
    const text = await textOf(raw(port, ...large(size)));
    expect(text).toContain('200');
    expect(text).toContain('"beginning":"{\\"uid\\":1"');
  });

  it('that arrives too slowly is refused, and its connection closed', async () => {
    const { port } = await serve({}, 50);
    const { socket, answered } = raw(port, head('Content-Length: 10'), '{');
    expect(await answered).toContain('408');
    await new Promise((closed) => socket.once('close', closed));
  });

  it('that arrives too slowly gets its route’s own answer in place of an error', async () => {
    const answerUnread = async ({ why, beginning }: UnreadBody) => why === 'slow' && { got: await beginning };
    const { port } = await serve({ answerUnread }, 50);
    expect(await raw(port, head('Content-Length: 10'), '{').answered).toContain('200');
  });

  it('that has no answer in time gets its route’s own answer, which the late one doesn’t change', async () => {
    const answerUnread = async ({ message, beginning }: UnreadBody) => ({ message, got: await beginning });
    const { port, waiting } = await serve({ answerUnread, failsOpen: true }, undefined, 50);
    const text = await textOf(raw(port, head('Content-Length: 9'), '{"uid":1}'));
    expect(text).toContain('200');
    expect(text).toContain('{"message":"there is no decision after 0.05 s","got":"{\\"uid\\":1}"}');
    for (const answer of waiting) answer();
  });

  it('that arrives slowly leaves less time for its answer', async () => {
    const { port, waiting, received } = await serve({ answerUnread: () => ({}), failsOpen: true }, undefined, 50);
    const slow = raw(port, head('Content-Length: 9'), '{"uid":');
    await eventually(() => expect(received()).toBeGreaterThan(0));
    // Denied after the same time, so the slow one has none left.
    expect(await raw(port, small).answered).toContain('200');
    slow.socket.write('1}');
    expect(await slow.answered).toContain('200');
    expect(waiting).toHaveLength(1);
  });

  it('that was denied before its answer counts until the answer is there', async () => {
    const answerUnread = ({ message }: UnreadBody) => ({ message });
    const { port, waiting } = await serve({ answerUnread, failsOpen: true }, undefined, 200);
    const send = () => textOf(raw(port, ...LARGE));
    while (waiting.length < FIT) expect(await send()).toContain('no decision');
    expect(await send()).toContain('too many large bodies');
    for (const answer of waiting) answer();
    expect(await send()).toContain('no decision');
  });

  it('that has no answer in time gets the late one if that is no permission', async () => {
    const { port, waiting } = await serve({ answerUnread: () => ({}) }, undefined, 1);
    const answered = textOf(raw(port, small));
    await eventually(() => expect(waiting.length).toBe(1));
    // Ends after a timer of the same length that began before.
    await new Promise((ended) => setTimeout(ended, 1));
    waiting[0]!();
    expect(await answered).toContain('{"answered":true}');
  });

  it('that is still arriving is dropped for one of an address that has fewer', async () => {
    const { port, waiting, received } = await serve();
    const unfinished = [LARGE[0]!, Buffer.alloc(SIZE - 1, ' ')];
    const slow = Array.from({ length: FIT }, () => rawFrom('127.0.0.2', port, ...unfinished));
    await eventually(() => expect(received()).toBeGreaterThanOrEqual(FIT * SIZE));
    const other = raw(port, ...LARGE);
    expect(await Promise.race(slow.map((each) => each.answered))).toContain('429');
    await isAnswered(waiting, other);
  });

  it('of a sender that disconnects is dropped', async () => {
    const { port, waiting } = await serve();
    for (let i = 0; i < 10; i++) {
      const { socket } = raw(port, LARGE[0]!, Buffer.alloc(SIZE - 1, ' '));
      await new Promise<void>((drained) => socket.once('drain', drained));
      await new Promise<void>((closed) => socket.once('close', () => closed()).destroy());
    }
    await isAnswered(waiting, raw(port, small));
  });
});

/** A server whose one route gives this answer. */
function serveAnswer(answer: Route['answer']) {
  const common = {
    log: createLog('silent'),
    metrics: createMetrics(),
    notReady: () => undefined,
    completeMs: LONG_MS,
  };
  return listenWith(createApp({ ...common, routes: [{ path: '/slow', answer }] }));
}

it('answers begin one in each turn of the event loop: other lanes and ports are served in between', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const begun: number[] = [];
  const { port, received } = await serveAnswer(async () => {
    begun.push(turns);
    return {};
  });
  const beginning = head('Content-Length: 2');
  const requests = Array.from({ length: 20 }, () => raw(port, beginning));
  await eventually(() => expect(received()).toBe(requests.length * beginning.length));
  // All bodies arrive together.
  for (const { socket } of requests) socket.write('{}');
  await Promise.all(requests.map(({ answered }) => answered));
  clearImmediate(next);
  expect(new Set(begun).size).toBe(requests.length);
});

it('a small body does not wait for the large ones that arrived before it', async () => {
  const begun: unknown[] = [];
  const { port, received } = await serveAnswer(async (body) => {
    begun.push((body as { size: string }).size);
    if (begun.length === 1) socket.write('}');
    return {};
  });
  const beginningOf = (body: string) => `${head(`Content-Length: ${body.length}`)}${body.slice(0, -1)}`;
  const large = beginningOf(JSON.stringify({ size: 'large', filler: 'x'.repeat(300_000) }));
  const beginning = beginningOf(JSON.stringify({ size: 'small' }));
  const others = Array.from({ length: 20 }, () => raw(port, large));
  const { socket, answered } = raw(port, beginning);
  await eventually(() => expect(received()).toBe(others.length * large.length + beginning.length));
  for (const other of others) other.socket.write('}');
  await Promise.all([answered, ...others.map((other) => other.answered)]);
  expect(begun.indexOf('small')).toBeLessThan(10);
});
