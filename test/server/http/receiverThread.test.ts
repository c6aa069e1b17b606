/** The receiver's thread is restarted on the same port if it dies, without effect on the process. */
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, vi } from 'vitest';
import { fakeMetrics } from '../../../dev/fakes/ports.ts';
import { batchedMetrics, startReceiver } from '../../../server/http/receiverThread.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const dir = temporaryFolder('receiver-thread-');

/** A thread that counts its starts, and does `then`. */
function program(then: string): { url: URL; starts(): string[] } {
  const own = mkdtempSync(join(dir, 'program-'));
  const notes = join(own, 'starts');
  appendFileSync(notes, '');
  const file = join(own, 'program.mjs');
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
appendFileSync(${JSON.stringify(notes)}, workerData.port + '\\n');
const isFirst = readFileSync(${JSON.stringify(notes)}, 'utf8').trim().split('\\n').length === 1;
parentPort.on('message', (order) => order === 'close' && process.exit(0));
${then}`,
  );
  return { url: pathToFileURL(file), starts: () => readFileSync(notes, 'utf8').trim().split('\n') };
}

const { metrics, counts } = fakeMetrics();
const options = { host: '127.0.0.1', port: 0, logLevel: 'silent' as const, oidcIssuers: [] };

it.each([
  ['an error that nobody catches', "if (isFirst) throw new Error('broken');"],
  ['more memory than it may have', 'const all = []; while (isFirst) all.push(new Array(1e6).fill({}));'],
])('after %s is started again, at the same port', async (_, fails) => {
  // Once it is told to, because Node may deliver an error before the port.
  const { url, starts } = program(
    `parentPort.postMessage({ port: 4711 }); parentPort.on('message', () => { ${fails} });`,
  );
  const errors: object[] = [];
  const receiver = await startReceiver(url, options, { error: (fields) => void errors.push(fields) }, metrics);
  expect(receiver.port).toBe(4711);
  receiver.drain();
  await eventually(() => expect(starts()).toEqual(['0', '4711']));
  expect(errors).toHaveLength(1);
  await receiver.close();
});

it('that cannot start is an error of the start', async () => {
  const { url } = program("throw new Error('the port is taken');");
  await expect(startReceiver(url, options, { error: () => {} }, metrics)).rejects.toThrow('the port is taken');
});

it('its counters are merged here', async () => {
  const count = { name: 'rollout_hooks_receiver_requests_total', labels: { endpoint: 'hook', code: '200' }, times: 3 };
  const { url } = program(
    `parentPort.postMessage({ port: 4711 }); parentPort.postMessage({ counts: [${JSON.stringify(count)}] });`,
  );
  const receiver = await startReceiver(url, options, { error: () => {} }, metrics);
  await eventually(() => expect(counts).toEqual([count]));
  await receiver.close();
});

it('its counters are served together', () => {
  vi.useFakeTimers();
  const messages: object[] = [];
  const own = batchedMetrics((message) => void messages.push(message));
  const called = (code: '200' | '400') =>
    own.count({ name: 'rollout_hooks_receiver_requests_total', labels: { endpoint: 'hook', code } });
  for (const code of ['200', '400', '200'] as const) called(code);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(messages).toMatchObject([
    {
      counts: [
        { labels: { code: '200' }, times: 2 },
        { labels: { code: '400' }, times: 1 },
      ],
    },
  ]);
});
