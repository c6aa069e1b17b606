import { expect, it } from 'vitest';
import { whoAmI } from '../../cli/commands/uiCommand.ts';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { apiServer, json, status } from './apiServer.ts';

it.each([
  ['the API server says', 201, 'alice@example.com'],
  ['nobody says on an older API server', 404, undefined],
  ['nobody says where it fails', 500, undefined],
])('the user is whom %s', async (_, code, user) => {
  const { kubeconfig, asked } = await apiServer((request, response) => {
    request.resume();
    if (code !== 201) return status(response, code, 'Nothing', 'no');
    json(response, { status: { userInfo: { username: 'alice@example.com' } } }, code);
  });
  const client = createClient(selectCluster({ kubeconfig }, {}), { timeoutMs: 60_000, userAgent: 'test' });
  expect(await whoAmI(client)).toBe(user);
  expect(asked[0]).toMatch(/^POST \/apis\/authentication\.k8s\.io\/v1\/selfsubjectreviews/);
});
