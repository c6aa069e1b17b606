/** A command whose approval the webhook does not record is an error, with the webhook's Warning. */
import { expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { apiServer, json } from './apiServer.ts';

it('an approval that is not recorded is an error, with the Warning', async () => {
  const WARNING = 'not approved: system:serviceaccount:ci:deployer is none of those who may approve';
  const spec = { rolloutRef: { name: 'web' }, approvals: { required: 3 } };
  const gate = objectOf('RolloutGate', { metadata: { namespace: 'shop', name: 'qa' }, spec } as never);
  const { kubeconfig } = await apiServer((request, response) => {
    json(response, gate, 200, request.method === 'GET' ? {} : { warning: `299 - "${WARNING}"` });
  });
  const answer = await call('approve rolloutgate/qa 1.2.0 --yes', { env: { KUBECONFIG: kubeconfig } });
  expect([answer.code, answer.out]).toEqual([1, '']);
  expect(answer.err).toContain(WARNING);
  expect(answer.err).toContain('No approval of 1.2.0 was recorded at RolloutGate shop/qa.');
});
