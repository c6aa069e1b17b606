/** Writes that the page requests, with an API server that changes its objects between a read and the write. */
import { describe, expect, it } from 'vitest';
import type { ActionRequest } from '../../client/actions/action.ts';
import { createHandlers } from '../../page/handlers.ts';
import type { Views } from '../../page/views.ts';
import { createClient } from '../../tools/kube/kubeClient.ts';
import { selectCluster } from '../../tools/kube/kubeconfig.ts';
import { apiServer, json, rollout, status } from '../cli/apiServer.ts';
import { NOW, objectServer, type Stored } from '../cli/objectServer.ts';
import { objectOf } from '../support/objects.ts';

/** `reads`: the object in each read; undefined if it is missing. A write conflicts while `refuses` returns true. */
async function deskOf(reads: (object | undefined)[], refuses: () => { code: number; reason: string } | undefined) {
  let read = 0;
  const server = await apiServer((request, response) => {
    if (request.method === 'GET') {
      const found = reads[Math.min(read++, reads.length - 1)];
      return found ? json(response, found) : status(response, 404, 'NotFound', 'there is none');
    }
    request.resume().on('end', () => {
      const refused = refuses();
      if (refused) return status(response, refused.code, refused.reason, 'raw words of the API server');
      json(response, reads.at(-1) ?? {});
    });
  });
  const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
  const client = createClient(selected, { timeoutMs: 5000, userAgent: 'test' });
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
const FIXED = withHistory('1.2.0', '1.1.0', '1.0.0');
const back: ActionRequest = {
  type: 'rollback',
  object: { kind: 'Rollout', namespace: 'shop', name: 'app' },
  version: '1.0.0',
};
const accepts = () => undefined;

describe('a rollback of the page', () => {
  const CHANGED = 'This was planned for deployment 2 (1.1.0), and now there is deployment 3 (1.2.0).';
  const SHOWN = 'deployment 2 (1.1.0)';

  it('is made for the deployment that it was offered for', async () => {
    const handlers = await deskOf([BEFORE], accepts);
    expect(await handlers.act(back, true, SHOWN)).toMatchObject({ ok: true });
    expect(await handlers.act(back, false, SHOWN)).toMatchObject({ ok: true });
  });

  it('is refused where automation has deployed another one since, in a dry run too', async () => {
    const handlers = await deskOf([FIXED], accepts);
    const refused = { ok: false, message: expect.stringContaining(CHANGED) };
    expect(await handlers.act(back, true, SHOWN)).toMatchObject(refused);
    expect(await handlers.act(back, false, SHOWN)).toMatchObject(refused);
    expect(handlers.writes()).toBe(0);
  });

  it('is refused without the deployment that it was offered for', async () => {
    const handlers = await deskOf([BEFORE], accepts);
    expect(await handlers.act(back, false)).toMatchObject({ ok: false, message: expect.stringContaining(SHOWN) });
    expect(handlers.writes()).toBe(0);
  });

  it('is refused where another one begins between its read and its write', async () => {
    const handlers = await deskOf([BEFORE, FIXED], () => ({ code: 409, reason: 'Conflict' }));
    const answer = await handlers.act(back, false, SHOWN);
    expect(answer).toMatchObject({ ok: false, message: expect.stringContaining(CHANGED) });
    expect(handlers.writes()).toBe(1);
  });
});

describe('a button that names a version', () => {
  const { object } = back;
  const failed = { ...FIXED, status: { history: [{ ...FIXED.status.history[0], bakeStatus: 'Failed' }] } };
  const annotations = { 'rollout.kuberik.com/force-deploy': '1.3.0', 'gate.fluxcd.io/bypass-for': '1.3.0' };
  const requested = { ...FIXED, metadata: { ...FIXED.metadata, annotations } };

  it.each<[string, string, ActionRequest, string, object]>([
    ['Retry 1.1.0', 'another deployment', { type: 'retry', object, version: '1.1.0' }, 'deployment 3 (1.2.0)', failed],
    ['Unblock', 'another failure', { type: 'unblock', object, version: '1.1.0' }, 'deployment 3 (1.2.0)', failed],
    [
      'Withdraw 1.2.0',
      'another request',
      { type: 'withdraw', object, version: '1.2.0' },
      'the request for 1.3.0',
      requested,
    ],
  ])('%s is refused where there is %s, and accepted for the version of that', async (_, __, request, basis, found) => {
    const handlers = await deskOf([found], accepts);
    const refused = { ok: false, message: expect.stringMatching(/Nothing was changed\.$/) };
    expect(await handlers.act(request, false, basis)).toMatchObject(refused);
    expect(handlers.writes()).toBe(0);
    const shown = { ...request, version: request.type === 'withdraw' ? '1.3.0' : '1.2.0' };
    expect(await handlers.act(shown, false, 'deployment 2 (1.1.0)')).toMatchObject(refused);
    expect(await handlers.act(shown, false, basis)).toMatchObject({ ok: true });
  });
});

it('an approval that the webhook does not record is reported as such', async () => {
  const gate = {
    kind: 'RolloutGate',
    metadata: { namespace: 'shop', name: 'qa' },
    spec: { rolloutRef: { name: 'app' }, approvals: { required: 1 } },
  };
  const handlers = await deskOf([gate], accepts);
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

describe('a Gate that the page creates', () => {
  const create: ActionRequest = { type: 'create', object: { kind: 'Gate', namespace: 'shop', name: 'typo' } };
  const gate = { apiVersion: 'gate.fluxcd.io/v1alpha1', kind: 'Gate', metadata: { namespace: 'shop', name: 'typo' } };
  const EXISTS = { ok: false, message: 'Gate shop/typo already exists. Nothing was changed.' };

  it('is created once', async () => {
    const handlers = await deskOf([undefined], accepts);
    expect(await handlers.act(create, false)).toMatchObject({ ok: true });
    expect(handlers.writes()).toBe(1);
  });

  it('is not created where it exists by now', async () => {
    const handlers = await deskOf([gate], accepts);
    expect(await handlers.act(create, false)).toMatchObject(EXISTS);
    expect(handlers.writes()).toBe(0);
  });

  it('is tried once where another user creates it at the same time', async () => {
    const handlers = await deskOf([undefined], () => ({ code: 409, reason: 'AlreadyExists' }));
    expect(await handlers.act(create, false)).toMatchObject(EXISTS);
    expect(handlers.writes()).toBe(1);
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
    const client = createClient(selectCluster({ kubeconfig }, {}), { timeoutMs: 5000, userAgent: 'test' });
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
