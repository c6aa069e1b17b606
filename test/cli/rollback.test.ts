/** A command asks for confirmation of a write that can't be undone. */
import { describe, expect, it } from 'vitest';
import { call, type RelatedObjects } from '../support/command.ts';
import { apiServer, json, rollout, status } from './apiServer.ts';

const history = ['1.1.0', '1.0.0'].map((tag, index) => ({ id: 2 - index, version: { tag }, bakeStatus: 'Succeeded' }));
const app = { ...rollout('app'), status: { ...rollout('app').status, history } };

async function rolledBack(line: string, around: RelatedObjects = {}) {
  const writes: string[] = [];
  const { kubeconfig } = await apiServer((request, response, url) => {
    if (!url.pathname.endsWith('/rollouts/app')) return status(response, 403, 'Forbidden', 'you may not');
    if (request.method !== 'GET') writes.push(url.pathname);
    json(response, app);
  });
  return { ...(await call(line, { ...around, env: { KUBECONFIG: kubeconfig } })), writes: writes.length };
}

describe('rollback', () => {
  it('names both versions, and asks for confirmation', async () => {
    const { code, err, writes } = await rolledBack('rollback app', { columns: 100, answers: 'n\n' });
    expect(err).toContain('from 1.1.0 to 1.0.0');
    expect(err).toContain('Nothing was changed.');
    expect([code, writes]).toEqual([1, 0]);
  });

  it('is made after confirmation', async () => {
    expect(await rolledBack('rollback app', { columns: 100, answers: 'y\n' })).toMatchObject({ code: 0, writes: 1 });
  });

  it('without a terminal takes --yes', async () => {
    expect(await rolledBack('rollback app')).toMatchObject({ code: 2, writes: 0 });
    expect(await rolledBack('rollback app --yes')).toMatchObject({ code: 0, writes: 1 });
  });
});
