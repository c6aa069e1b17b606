/**
 * The command around the request: it asks for confirmation, and a deployment that starts between its read and its write
 * is not undone.
 */
import { describe, expect, it } from 'vitest';
import { call, type RelatedObjects } from '../support/command.ts';
import { apiServer, json, rollout, status } from './apiServer.ts';

const entry = (id: number, tag: string) => ({
  id,
  version: { tag },
  timestamp: '2026-03-01T12:00:00Z',
  bakeStatus: 'Succeeded',
});

const withHistory = (...tags: string[]) => {
  const of = rollout('app');
  const history = tags.map((tag, index) => entry(tags.length - index, tag));
  return { ...of, metadata: { ...of.metadata, resourceVersion: `${tags.length}` }, status: { ...of.status, history } };
};

/** The Rollout that each read returns. A write is refused with a conflict while a later version is left. */
async function rolledBack(reads: object[], line: string, around: RelatedObjects = {}) {
  const writes: string[] = [];
  let read = 0;
  const { kubeconfig } = await apiServer((request, response, url) => {
    if (!url.pathname.endsWith('/rollouts/app')) return status(response, 403, 'Forbidden', 'you may not');
    if (request.method === 'GET') return json(response, reads[Math.min(read++, reads.length - 1)]!);
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      writes.push(text);
      if (read < reads.length) return status(response, 409, 'Conflict', 'the object has been modified');
      json(response, reads.at(-1)!);
    });
  });
  return { ...(await call(line, { ...around, env: { KUBECONFIG: kubeconfig } })), writes };
}

const BEFORE = withHistory('1.1.0', '1.0.0');

describe('rollback', () => {
  it('names both versions, and asks for confirmation', async () => {
    const { code, err, writes } = await rolledBack([BEFORE], 'rollback app', { columns: 100, answers: 'n\n' });
    expect(err).toContain('1.1.0 → 1.0.0');
    expect(err).toContain('Nothing was changed.');
    expect([code, writes]).toEqual([1, []]);
  });

  it('is made after confirmation', async () => {
    const { code, writes } = await rolledBack([BEFORE], 'rollback app', { columns: 100, answers: 'y\n' });
    expect(code).toBe(0);
    expect(JSON.parse(writes[0]!)).toMatchObject({
      metadata: { resourceVersion: '2' },
      spec: { wantedVersion: '1.0.0' },
    });
  });

  it('without a terminal takes --yes', async () => {
    expect(await rolledBack([BEFORE], 'rollback app')).toMatchObject({ code: 2, writes: [] });
    expect(await rolledBack([BEFORE], 'rollback app --yes')).toMatchObject({ code: 0 });
  });

  it('is made even if another write has changed unrelated fields', async () => {
    expect(await rolledBack([BEFORE, BEFORE], 'rollback app --yes')).toMatchObject({ code: 0 });
  });

  it('is refused where another deployment has begun meanwhile', async () => {
    const after = withHistory('1.2.0', '1.1.0', '1.0.0');
    const { code, err, writes } = await rolledBack([BEFORE, after], 'rollback app --yes');
    expect(err).toContain('planned for deployment 2 (1.1.0), and now there is deployment 3 (1.2.0)');
    expect([code, writes.length]).toEqual([1, 1]);
  });

  it('called again does not go forward', async () => {
    const { code, err, writes } = await rolledBack([withHistory('1.0.0', '1.1.0', '1.0.0')], 'rollback app --yes');
    expect(err).toContain('1.1.0 is newer than 1.0.0');
    expect([code, writes]).toEqual([1, []]);
  });
});
