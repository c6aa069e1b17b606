/** Writes that the page requests. */
import { describe, expect, it } from 'vitest';
import type { ActionRequest } from '../../client/actions/action.ts';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { createHandlers } from '../../page/handlers.ts';
import type { Views } from '../../page/views.ts';
import { apiServer, json, rollout, status } from '../cli/apiServer.ts';
import { NOW, objectServer, type Stored } from '../cli/objectServer.ts';
import { objectOf } from '../support/objects.ts';

/** `refusal`: the message with which the API server refuses writes. */
async function deskOf(object: object, refusal?: string) {
  const server = await apiServer((request, response) => {
    request.resume().on('end', () => {
      if (refusal && request.method !== 'GET') status(response, 500, 'InternalError', refusal);
      else json(response, object);
    });
  });
  const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
  const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
  const handlers = createHandlers(client, {} as Views, () => Date.parse('2026-11-22T08:00:00Z'));
  const writes = () => server.asked.filter((line) => !line.startsWith('GET ')).length;
  return { ...handlers, writes };
}

const withHistory = (...tags: string[]) => {
  const of = rollout('app');
  const history = tags.map((tag, index) => ({ ...of.status.history[0], id: tags.length - index, version: { tag } }));
  return { ...of, metadata: { ...of.metadata, resourceVersion: `${tags.length}` }, status: { ...of.status, history } };
};
const BEFORE = withHistory('1.1.0', '1.0.0');
const back: ActionRequest = {
  type: 'rollback',
  object: { kind: 'Rollout', namespace: 'shop', name: 'app' },
  version: '1.0.0',
};

it('a rollback of the page is made for the deployment that it was offered for', async () => {
  const { act } = await deskOf(BEFORE);
  expect(await act(back, false, 'deployment 2 (1.1.0)')).toMatchObject({ ok: true });
  const refused =
    'Nothing was changed: the action was for deployment 3 (1.2.0), and now there is deployment 2 (1.1.0).';
  const other = { ok: false, message: expect.stringContaining(refused) };
  expect(await act(back, false, 'deployment 3 (1.2.0)')).toMatchObject(other);
});

it('an unreached webhook is reported with the command that finds the cause', async () => {
  const message = 'Internal error occurred: failed calling webhook "rollout.admission.kuberik.com": refused';
  const { act } = await deskOf(BEFORE, message);
  const help = expect.stringContaining('\n  kubectl rollouts doctor');
  expect(await act(back, false, 'deployment 2 (1.1.0)')).toMatchObject({ ok: false, message: help });
});

it('an approval that the webhook does not record is reported as such', async () => {
  const gate = {
    kind: 'RolloutGate',
    metadata: { namespace: 'shop', name: 'qa' },
    spec: { rolloutRef: { name: 'app' }, approvals: { required: 1 } },
  };
  const handlers = await deskOf(gate);
  const approve: ActionRequest = {
    type: 'approve',
    object: { ...gate.metadata, kind: 'RolloutGate' },
    version: '1.2.0',
  };
  expect(await handlers.act(approve, false)).toMatchObject({
    ok: false,
    message: 'No approval of 1.2.0 was recorded at RolloutGate shop/qa.',
  });
});

describe('the preview of a freeze', () => {
  const selects = { kinds: ['Rollout' as const], namespaceSelector: {} };
  const freeze: ActionRequest = {
    type: 'freeze',
    object: { kind: 'Gate', namespace: 'shop', name: 'incident' },
    reason: 'INC-42',
    freeze: { selects },
  };
  const gate = (kinds: string[]) =>
    objectOf('Gate', {
      metadata: { namespace: 'shop', name: 'incident' },
      spec: { default: 'opened', selects: { ...selects, kinds } },
    } as never);

  const WEB = objectOf('Kustomization', { metadata: { namespace: 'shop', name: 'web' }, spec: {} } as never);

  const previewWith = async (stored: Stored[], options: Parameters<typeof objectServer>[1] = {}) => {
    const { kubeconfig } = await objectServer(stored, { may: () => false, ...options });
    const client = createClient(selectCluster({ kubeconfig }, {}), { timeoutMs: 60_000, userAgent: 'test' });
    return createHandlers(client, {} as Views, () => NOW).preview(freeze);
  };
  const preview = (...stored: Stored[]) => previewWith(stored);

  it('has the new Gate and the rights that it needs', async () => {
    const { commands, lacks } = await preview();
    expect(commands.kubectl).toMatch(/^kubectl -n shop create -f - /);
    expect(commands.command).toBe(
      "kubectl rollouts freeze incident --kinds Rollout --namespace-selector '' -n shop --reason INC-42",
    );
    expect(lacks).toBe('create on gates shop/incident and select-namespaces on gates *');
  });

  it('has the request on an existing Gate of that name', async () => {
    const { commands, lacks, answer } = await preview(gate(['Rollout']));
    expect(commands.kubectl).toMatch(/^kubectl -n shop annotate --overwrite gate\/incident close\.gate/);
    expect(lacks).toBe('patch on gates shop/incident');
    expect(answer.warnings).toContain('Gate shop/incident exists: its spec stays as it is.');
  });

  it('has the rights for a new Gate if the user may not read Gates', async () => {
    const { lacks, answer } = await previewWith([], { hides: ['gates/incident'] });
    expect(lacks).toBe('create on gates shop/incident and select-namespaces on gates *');
    expect(answer).toMatchObject({ ok: false, code: 403 });
  });

  it('names the conflict with an existing Gate that selects something else', async () => {
    const { commands, answer, count } = await preview(gate(['Kustomization']), WEB);
    expect(answer.warnings).toEqual([expect.stringContaining('exists, and selects something else')]);
    expect([commands.kubectl, count]).toEqual([expect.stringMatching(/^# Gate shop\/incident exists, /), 0]);
  });
});
