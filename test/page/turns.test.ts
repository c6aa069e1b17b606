import { expect, it } from 'vitest';
import { createWorkQueue } from '../../page/feed.ts';

it('other work comes between the turns of any two readers', async () => {
  const inTurn = createWorkQueue();
  const order: string[] = [];
  for (const reader of ['a', 'b', 'c']) inTurn(() => void order.push(reader));
  while (order.at(-1) !== 'c') {
    order.push('request');
    await new Promise((done) => void setImmediate(done));
  }
  expect(order.join(' ')).toMatch(/a request.* b request.* c$/);
});
