/** `kubectl rollouts mcp` as a process, used through its standard streams by an MCP client. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, expect, it } from 'vitest';
import { REPOSITORY } from '../../dev/repository.ts';
import { apiServer, json, list, rollout } from './apiServer.ts';

const approvals = (given: object[]) => ({
  metadata: {
    namespace: 'shop',
    name: 'qa',
    annotations: { 'rollout.kuberik.com/approvals': JSON.stringify({ given }) },
  },
  spec: { rolloutRef: { name: 'web' }, approvals: { required: 1 } },
});

const web = rollout('web');
const released = { ...web, status: { ...web.status, availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }] } };

let gates: object[] = [];
const { kubeconfig, asked } = await apiServer((request, response, url) => {
  if (url.pathname.endsWith('/rollouts/web')) return json(response, released);
  if (url.pathname.endsWith('/rollouts')) return json(response, list([released]));
  if (url.pathname.endsWith('/rolloutgates')) return json(response, list(gates));
  if (/\/(rollouts|gates)\/\w+$/.test(url.pathname)) {
    return json(response, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' }, 404);
  }
  return json(response, request.method === 'POST' ? { status: { allowed: true } } : list([]));
});
const client = new Client({ name: 'test', version: '0.0.0' });
await client.connect(
  new StdioClientTransport({
    command: join(REPOSITORY, 'node_modules/.bin/node'),
    args: [join(REPOSITORY, 'cli/main.ts'), 'mcp'],
    env: { ...process.env, KUBECONFIG: kubeconfig } as Record<string, string>,
    stderr: 'ignore',
  }),
);
afterAll(() => client.close());

async function call(name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  return { text: (content as { text: string }[])[0]?.text ?? '', isError };
}

const writes = () => asked.filter((each) => /^(PATCH|PUT|DELETE)/.test(each));

it('has read-only tools, and one that proposes', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ['get', true],
    ['why', true],
    ['history', true],
    ['calendar', true],
    ['doctor', true],
    ['propose', false],
  ]);
});

it('returns the output of the commands as JSON, and errors as sentences', async () => {
  expect(JSON.parse((await call('history', { rollout: 'web' })).text)).toMatchObject([{ version: { tag: '1.0.0' } }]);
  expect(JSON.parse((await call('get')).text)).toMatchObject({ items: [{ name: 'web' }] });
  expect(await call('history', { rollout: 'nope' })).toEqual({
    text: expect.stringContaining('There is no Rollout nope in namespace shop.'),
    isError: true,
  });
  expect((await call('history')).isError).toBe(true);
  expect(writes()).toEqual([]);
});

const PROPOSAL = { rollout: 'web', version: '1.1.0', reason: 'fixes the login' };
const ALICE = { version: '1.1.0', by: 'alice', at: '2026-03-01T12:00:00Z' };

it.each<[what: string, gates: object[], answer: string]>([
  ['nobody has to approve it', [], 'no RolloutGate of Rollout shop/web has spec.approvals'],
  ['it has all approvals already', [approvals([ALICE])], '1.1.0 of Rollout shop/web has all approvals already'],
])('proposes nothing where %s', async (_, given, answer) => {
  gates = given;
  expect(await call('propose', PROPOSAL)).toEqual({ text: expect.stringContaining(answer), isError: true });
  expect(writes()).toEqual([]);
});

it('proposes a version that users still have to approve', async () => {
  gates = [approvals([])];
  const { text, isError } = await call('propose', PROPOSAL);
  expect([isError, text]).toEqual([false, expect.stringContaining('RolloutGate qa (0 of 1')]);
  expect(writes()).toEqual([expect.stringMatching(/^PATCH .*\/namespaces\/shop\/rollouts\/web/)]);
});
