import { expect, it } from 'vitest';
import type { AccessReviewer } from '../../../api/ports.ts';
import { withCachedAnswers } from '../../../server/cluster/access.ts';
import { createSharedReads } from '../../../server/cluster/sharedReads.ts';

const what = { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'a', name: '' };

function asking(answers: (boolean | Error)[]) {
  let now = 0;
  const asked: string[] = [];
  const reviewer: AccessReviewer = {
    may: async ({ username }, { resource }) => {
      asked.push(`${username} ${resource}`);
      const answer = answers.shift() ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return {
    asked,
    advance: (ms: number) => (now += ms),
    ...withCachedAnswers(
      reviewer,
      createSharedReads(() => now),
    ),
  };
}

it('makes one request a minute for the same user and resource, and another for others', async () => {
  const { may, asked, advance } = asking([false, true, true, true]);
  expect([await may({ username: 'u' }, what), await may({ username: 'u' }, what)]).toEqual([false, false]);
  expect(await may({ username: 'v' }, what)).toBe(true);
  expect(await may({ username: 'u' }, { ...what, resource: 'pods' })).toBe(true);
  expect(asked).toEqual(['u deployments', 'v deployments', 'u pods']);
  advance(60_000);
  expect(await may({ username: 'u' }, what)).toBe(true);
});

it('does not cache a missing answer', async () => {
  const { may } = asking([new Error('down'), true]);
  await expect(may({ username: 'u' }, what)).rejects.toThrow('down');
  expect(await may({ username: 'u' }, what)).toBe(true);
});
