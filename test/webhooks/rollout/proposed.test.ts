/** What is proposed for a failed deployment is a write that admission takes. */
import { expect, it } from 'vitest';
import { actionsOf } from '../../../client/board/actions.ts';
import { requestOf } from '../../../client/board/requests.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { NO_SURROUNDINGS } from '../../../client/explain/surroundings.ts';
import { isRequest } from '../../../client/requests/request.ts';
import { mutateRollout } from '../../../webhooks/rollout/rollout.ts';
import { annotated, call, write } from './call.ts';

const entry = (id: number, tag: string, bakeStatus: 'Failed' | 'Succeeded') => ({
  id,
  version: { tag },
  timestamp: '2026-03-01T12:00:00Z',
  bakeStatus,
});
const FAILED = annotated(
  {},
  { onFailure: 'Hold' },
  { history: [entry(2, '1.2.0', 'Failed'), entry(1, '1.1.0', 'Succeeded')] },
);
const ACTIONS = actionsOf(explainRollout(FAILED, NO_SURROUNDINGS, 0));

it.each(ACTIONS.map((action) => [action.label, action] as const))('%s', async (_, { asked }) => {
  const request = requestOf(asked, FAILED, 0);
  if (!isRequest(request)) throw new Error(request.none);
  const { metadata, spec } = request.body;
  const next = {
    ...FAILED,
    metadata: { ...FAILED.metadata, annotations: metadata?.annotations ?? {} },
    spec: { ...FAILED.spec, ...spec },
  };
  expect(await mutateRollout(write({ object: next, old: FAILED }), call().webhookCall)).toMatchObject({
    allowed: true,
  });
});

it('is more than one thing', () => {
  expect(ACTIONS.map(({ id }) => id)).toEqual(['retry', 'rollback', 'unblock']);
});
