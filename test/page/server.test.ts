/** Invalid requests to the page's server get an answer of 4xx. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { servePage } from '../../page/local.ts';
import type { Page } from '../../page/page.ts';
import { atEnd } from '../support/atEnd.ts';

const TOKEN = 'the-key-of-this-server-1234';
const nothing = { get: () => undefined };

const page = { feed: {}, handlers: nothing, adopting: nothing, hello: {} } as unknown as Page;
const server = await servePage([page], { assets: new Map(), token: TOKEN, port: 0 });
atEnd(server.close);

/** Sends a request with the target as written, which fetch would normalize. */
function ask(method: string, path: string, body = ''): Promise<{ status: number; message: string }> {
  const { hostname, port } = new URL(server.origin);
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, method, path, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, message: JSON.parse(text).message });
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

describe('a request that cannot be read', () => {
  it.each([
    ['nothing', ''],
    ['text', 'not JSON'],
    ['half of it', '{"asked":'],
    ['lists without end', '['.repeat(60_000)],
  ])('is refused for its body: %s', async (_, body) => {
    expect(await ask('POST', '/api/act', body)).toEqual({
      status: 400,
      message: 'The body of this request is not JSON.',
    });
  });

  it.each(['//', 'http://[', 'http://a:b/', '//host:99999/'])('is refused for its target: %s', async (target) => {
    const { status, message } = await ask('GET', target);
    expect({ status, message }).toEqual({ status: 400, message: `'${target}' is not an address of this server.` });
  });

  it.each(['null', '1', '[]', '"text"', '{}'])(
    'is distinguished from a body that requests nothing: %s',
    async (body) => {
      const message = 'The page makes no such request.';
      expect(await ask('POST', '/api/act', body)).toEqual({ status: 400, message });
    },
  );

  it('differs from one that is too long', async () => {
    expect(await ask('POST', '/api/act', 'x'.repeat(70_000))).toMatchObject({ status: 413 });
  });
});
