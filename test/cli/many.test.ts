/** Thousands of Rollouts are read in pages, shown page by page, and only as far as shown. */
import { describe, expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { apiServer, json, list, rollout } from './apiServer.ts';

const MANY = 5000;

/** Prints many Rollouts from a server that pages as the API server does: `limit` items from `continue` on. */
async function manyRollouts(seen: (printed: number) => void = () => {}) {
  const all = Array.from({ length: MANY }, (_, index) => rollout(`app-${index}`, '1.0.0', `team-${index % 50}`));
  const server = await apiServer((_, response, url) => {
    if (!url.pathname.endsWith('/rollouts')) return json(response, list([]));
    const from = Number(url.searchParams.get('continue') ?? 0);
    const to = from + Number(url.searchParams.get('limit') ?? MANY);
    seen(from);
    const metadata = { resourceVersion: '1', ...(to < MANY && { continue: String(to) }) };
    return json(response, { ...list(all.slice(from, to)), metadata });
  });
  return server;
}

describe('5,000 Rollouts in all namespaces', () => {
  it('are printed page by page, with one list of each other kind', async () => {
    let printed = 0;
    const printedAt: number[] = [];
    const { kubeconfig, asked } = await manyRollouts(() => printedAt.push(printed));
    const { code, out } = await call('get -A -o wide', {
      env: { KUBECONFIG: kubeconfig },
      onOutput: (all) => {
        printed = all.length;
      },
    });
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(MANY + 1);
    // The first page has 100, the second 400.
    expect(printedAt).toHaveLength(MANY / 500 + 1);
    expect(printedAt[1]).toBeGreaterThan(0);
    const others = asked.filter((each) => !each.includes('/rollouts?'));
    expect(others).toHaveLength(4);
  });

  it('one of them is read by its name', async () => {
    const { kubeconfig, asked } = await apiServer((_, response, url) =>
      json(response, url.pathname.endsWith('/app') ? rollout('app') : list([])),
    );
    await call('get app', { env: { KUBECONFIG: kubeconfig } });
    expect(asked.filter((each) => each.includes('/rollouts'))).toEqual([
      'GET /apis/kuberik.com/v1alpha1/namespaces/shop/rollouts/app',
    ]);
    expect(asked.some((each) => each.includes('healthchecks'))).toBe(false);
  });
});
