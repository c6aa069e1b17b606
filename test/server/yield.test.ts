import { expect, it } from 'vitest';
import { createYield } from '../../server/yield.ts';

it('other work comes between the turns of any two callers', async () => {
  const turn = createYield();
  const order: string[] = [];
  for (const caller of ['a', 'b', 'c']) void turn().then(() => order.push(caller));
  while (order.at(-1) !== 'c') {
    order.push('request');
    await new Promise((done) => void setImmediate(done));
  }
  expect(order.join(' ')).toMatch(/a request.* b request.* c$/);
});
