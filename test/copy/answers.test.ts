/** Every request of a copy with every unexpected answer of a registry: the outcome of the copy, and its message. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CopyOutcome } from '../../core/releaseCopy/outcome.ts';
import { copyHere } from './command.ts';
import { type FakeRegistry, image, startFakeRegistry } from './fakeRegistry.ts';

type Side = 'source' | 'target';
type Meddle = FakeRegistry['meddle'];

const TAG = '1.0.0';
const sides: Record<Side, FakeRegistry> = { source: await startFakeRegistry(), target: await startFakeRegistry() };
/** Answers of a side to the requests for one repository: each case has its own, and they run in parallel. */
const meddlers = { source: new Map<string, Meddle>(), target: new Map<string, Meddle>() };

for (const side of ['source', 'target'] as const) {
  sides[side].meddle = (request, response) => {
    const repository = /^\/v2\/([^/]+)\//.exec(request.url!)?.[1] ?? '';
    return meddlers[side].get(repository)?.(request, response) ?? false;
  };
}

const STEPS: { what: string; side: Side; method: string; path: RegExp }[] = [
  { what: 'the manifest in the source', side: 'source', method: 'GET', path: /manifests\/1\.0\.0$/ },
  { what: 'the list of referrers', side: 'source', method: 'GET', path: /referrers\/sha256:/ },
  { what: 'a blob of the source', side: 'source', method: 'GET', path: /blobs\/sha256:/ },
  { what: 'what is under the tag', side: 'target', method: 'HEAD', path: /manifests\/1\.0\.0$/ },
  { what: 'whether a blob is there', side: 'target', method: 'HEAD', path: /blobs\/sha256:/ },
  { what: 'the start of an upload', side: 'target', method: 'POST', path: /blobs\/uploads\/$/ },
  { what: 'an upload', side: 'target', method: 'PUT', path: /blobs\/uploads\// },
  { what: 'a manifest', side: 'target', method: 'PUT', path: /manifests\/sha256:/ },
  { what: 'the manifest that was written', side: 'target', method: 'GET', path: /manifests\/sha256:/ },
];

const status =
  (code: number, headers: object = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, { ...headers }).end('{"errors":[{"code":"OF_A_TEST","message":"s3cret"}]}');

interface Bad {
  answers: string;
  answer: (response: ServerResponse) => void;
  ends: Record<Side, CopyOutcome>;
  message: RegExp;
}

const both = (outcome: CopyOutcome) => ({ source: outcome, target: outcome });
const ANSWERS: Bad[] = [
  {
    answers: '401',
    answer: status(401, { 'www-authenticate': 'Basic realm="x"' }),
    ends: both('Denied'),
    message: /username and password/,
  },
  { answers: '403', answer: status(403), ends: both('Denied'), message: /403.*its credentials need the right to pull/ },
  {
    answers: '429',
    answer: status(429, { 'retry-after': '0' }),
    ends: both('Unavailable'),
    message: /429.*, 2 times$/,
  },
  { answers: '500', answer: status(500), ends: both('Unavailable'), message: /500.*, 2 times$/ },
  {
    answers: '507',
    answer: status(507),
    ends: { source: 'Invalid', target: 'Full' },
    message: /is full \(507.*make room there, or raise its quota|answers 507/,
  },
  {
    answers: 'nothing, for longer than it may',
    answer: () => {},
    ends: both('Unavailable'),
    message: /did not answer in time, 2 times$/,
  },
  {
    answers: 'by breaking off',
    answer: (response) => void response.socket!.destroy(),
    ends: both('Unavailable'),
    message: /cannot be reached.*, 2 times$/,
  },
  {
    answers: 'an error without end',
    answer: (response) => {
      response.writeHead(400);
      if (response.req.method === 'HEAD') return void response.end();
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
    ends: both('Invalid'),
    message: /answers 400/,
  },
];

const CASES = STEPS.flatMap((step) => ANSWERS.map((bad) => ({ ...step, ...bad })));

describe.concurrent('a registry that gets a request for', () => {
  it.each(CASES)('$what, answers $answers', async ({ side, method, path, answer, ends, message }) => {
    const repository = `case${CASES.findIndex((each) => each.path === path && each.answer === answer)}`;
    image(sides.source, repository, ['one', 'two'], TAG);
    const isBad = (request: IncomingMessage) => request.method === method && path.test(request.url!.split('?')[0]!);
    meddlers[side].set(repository, (request, response) => {
      if (!isBad(request)) return false;
      request.resume();
      answer(response);
      return true;
    });
    const { code, result, stderr, terminationLog } = await copyHere({
      source: `${sides.source.host}/${repository}`,
      target: `${sides.target.host}/${repository}`,
      tag: TAG,
      more: ['--attempts', '2', '--idle-timeout', '1'],
    });
    expect(result).toMatchObject({ outcome: ends[side], message: expect.stringMatching(message) });
    expect(result.message).toMatch(new RegExp(`^the ${side}.*${sides[side].host}`));
    expect(code).toBeGreaterThan(2);
    expect(JSON.parse(terminationLog)).toEqual(result);
    expect(stderr).not.toContain('s3cret');
    expect(sides.target.manifests.has(`${repository} ${TAG}`)).toBe(false);
  });
});
