/** `close --wait` with errors: objects that aren't held in time, objects that can't be read, and Ctrl-C. */
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { apiServer, json, list, status } from './apiServer.ts';

const held = [
  { kind: 'Kustomization', namespace: 'shop', name: 'web' },
  { kind: 'Kustomization', namespace: 'shop', name: 'secret' },
];

/** A Gate that closes on request, `web`, which is never held, and `secret`, which the user may not read. */
async function environment() {
  const gate = {
    apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
    kind: 'Gate',
    metadata: { namespace: 'shop', name: 'incident', generation: 1, annotations: {} as Record<string, string> },
    spec: { default: 'opened' },
    status: { observedGeneration: 1, requiredByCount: 2, requiredBy: held },
  };
  const web = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata: held[0], spec: {} };
  const server = await apiServer(async (request, response, { pathname }) => {
    if (pathname.endsWith('/kustomizations/secret')) return status(response, 403, 'Forbidden', 'not for you');
    if (pathname.endsWith('/kustomizations/web')) return json(response, web);
    if (!pathname.endsWith('/gates/incident')) return json(response, list([]));
    if (request.method === 'PATCH')
      Object.assign(gate.metadata.annotations, (await bodyOf(request)).metadata.annotations);
    return json(response, gate);
  });
  return { KUBECONFIG: server.kubeconfig };
}

async function bodyOf(request: IncomingMessage) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

it('names the objects that aren’t held yet, and ends with 4', async () => {
  const { code, out } = await call('close gate/incident --wait --timeout 10ms', { env: await environment() });
  expect([code, out]).toEqual([
    4,
    'Closed Gate shop/incident.\nshop/incident: closed by an unknown user; held: nothing; not checked: 1; timed out; not done yet: 1 Kustomization (web)\n',
  ]);
});

it('leaves the request in effect after Ctrl-C', async () => {
  const interrupted = new AbortController();
  const { code, err } = await call('close gate/incident --wait', {
    env: await environment(),
    signal: interrupted.signal,
    onOutput: () => setImmediate(() => interrupted.abort()),
  });
  expect([code, err]).toEqual([130, 'Stopped waiting. The request is still in effect.\n']);
});

it('without --wait says that the objects aren’t held yet', async () => {
  const { code, err } = await call('close gate/incident', { env: await environment() });
  expect([code, err]).toEqual([0, 'Its objects are held within seconds; --wait waits until they are.\n']);
});

it('says nothing of the objects of a Gate that was closed already, such as for an opening for one version', async () => {
  const env = await environment();
  await call('close gate/incident', { env });
  const { code, err } = await call('open gate/incident --for-version 1.2.0', { env });
  expect([code, err]).toEqual([0, '']);
});

it('waits for nothing in a dry run', async () => {
  const { code, out } = await call('close gate/incident --wait --dry-run=server', { env: await environment() });
  expect([code, out]).toEqual([0, 'Closed Gate shop/incident (server dry run).\n']);
});
