/** Commands proposed for a failed deployment pass admission. */
import { expect, it } from 'vitest';
import { rolloutActions } from '../../../client/actions/rolloutActions.ts';
import { writeOf } from '../../../client/actions/table.ts';
import { isRequest } from '../../../client/actions/writes/plannedWrite.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { admitted, annotated } from './call.ts';

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
const ACTIONS = rolloutActions(FAILED, explainRollout(FAILED, NO_RELATED, 0), NO_RELATED, 0);

it.each(ACTIONS.map((action) => [action.label, action] as const))('%s', async (_, { request }) => {
  const write = writeOf(request, FAILED, 0);
  if (!isRequest(write)) throw new Error(write.none);
  const { metadata, spec } = write.body;
  const next = {
    ...FAILED,
    metadata: { ...FAILED.metadata, annotations: metadata?.annotations ?? {} },
    spec: { ...FAILED.spec, ...spec },
  };
  expect(await admitted(mutateRollout, { object: next, old: FAILED } as never)).toMatchObject({
    allowed: true,
  });
});

it('is more than one thing', () => {
  expect(ACTIONS.map(({ request }) => request.type)).toEqual(['rollback', 'retry', 'unblock']);
});
