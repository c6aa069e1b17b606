/** A write is made for the state that its user saw, once where it creates, and one without an effect is reported. */
import { expect, it } from 'vitest';
import type { AnyObject } from '../../api/kubernetes.ts';
import { approvalChange } from '../../client/actions/writes/approvalChange.ts';
import { createWrite, noChange, type PlannedWrite, patchWrite } from '../../client/actions/writes/plannedWrite.ts';
import { ApiError, type KubeClient } from '../../connection/kube/kubeClient.ts';
import { makeWrite } from '../../connection/kube/sent.ts';
import { APPROVAL_KEYS } from '../../core/approval/approvalRecord.ts';
import { objectOf } from '../support/objects.ts';

const APP = { namespace: 'shop', name: 'app' };
const app = objectOf('Rollout', { metadata: APP } as never);
const from = (basis?: string) => patchWrite(app, {}, { text: 'Done', ...(basis && { basis }) });
const gate = objectOf('Gate', { metadata: APP } as never);
const creation = createWrite(gate, { text: 'Created' });

/** Makes the write of each plan in turn. Every write conflicts while a plan is left. */
async function made(plans: PlannedWrite[], options: Parameters<typeof makeWrite>[2] = {}, stored: AnyObject = gate) {
  let planned = 0;
  let writes = 0;
  const write = async () => {
    writes++;
    if (planned < plans.length) throw new ApiError(409, 'Conflict', 'raw words');
    return { object: stored, warnings: ['beware'] };
  };
  const client = { create: write, patch: write } as unknown as KubeClient;
  const plan = () => plans[Math.min(planned++, plans.length - 1)]!;
  const sent = await makeWrite(client, plan, options).catch((error: Error) => error.message);
  return { sent, writes };
}

const A = 'deployment 2 (1.1.0)';
const B = 'deployment 3 (1.2.0)';
const CHANGED = `Nothing was changed: the action was for ${A}, and now there is ${B}.`;

it.each<[string, PlannedWrite[], Parameters<typeof makeWrite>[2], unknown, number]>([
  ['is made', [from(A)], {}, { warnings: ['beware'] }, 1],
  ['is made for the state that was offered', [from(A)], { offered: { basis: A } }, { request: { basis: A } }, 1],
  ['is refused for another state than was offered', [from(B)], { offered: { basis: A } }, CHANGED, 0],
  ['is refused in a dry run too', [from(B)], { offered: { basis: A }, dryRun: true }, CHANGED, 0],
  ['is refused if none was offered', [from(A)], { offered: { basis: undefined } }, expect.stringContaining(A), 0],
  ['is planned again after a conflict', [from(A), from(A)], {}, { request: {} }, 2],
  ['is refused if the state changes meanwhile', [from(A), from(B)], {}, CHANGED, 1],
  ['is tried five times', Array.from({ length: 9 }, () => from()), {}, 'raw words', 5],
  ['isn’t needed any more', [from(), noChange('It is so.')], {}, { none: 'It is so.' }, 1],
  ['creates once', [creation, creation], {}, 'Gate shop/app already exists. Nothing was changed.', 1],
  ['is stopped before', [from()], { before: () => Promise.reject(Error('no')) }, 'no', 0],
])('a write %s', async (_, plans, options, expected, count) => {
  const { sent, writes } = await made(plans, options);
  if (typeof expected === 'object') expect(sent).toMatchObject(expected!);
  else expect(sent).toBe(expected);
  expect(writes).toBe(count);
});

const ALICE = { version: '1.2.0', rollout: 'shop/web', by: 'alice', at: '2026-11-22T07:00:00Z' };
const AGAIN = { ...ALICE, at: '2026-11-22T08:00:00Z' };
const BOB = { ...ALICE, by: 'bob' };
const OTHER = { ...BOB, version: '1.3.0' };

it.each<[string, 'given' | 'withdrawn', string, object[], object[], boolean]>([
  ['a first approval', 'given', '1.2.0', [], [ALICE], true],
  ['a second approval', 'given', '1.2.0', [BOB], [BOB, ALICE], true],
  ['an approval again', 'given', '1.2.0', [ALICE], [AGAIN], true],
  ['an approval of one Rollout', 'given', 'shop/web:1.2.0', [OTHER], [OTHER, ALICE], true],
  ['a withdrawal', 'withdrawn', '1.2.0', [ALICE, BOB], [BOB], true],
  ['an approval that is missing', 'given', '1.2.0', [], [], false],
  ['an approval that another user gave', 'given', '1.2.0', [ALICE], [ALICE], false],
  ['an approval, while another one expires', 'given', '1.2.0', [BOB, OTHER], [BOB], false],
  ['an approval of another Rollout', 'given', 'shop/api:1.2.0', [], [ALICE], false],
  ['a withdrawal that changes nothing', 'withdrawn', '1.2.0', [ALICE], [ALICE], false],
])('%s of the webhook’s record', async (_, is, version, before, after, isRecorded) => {
  const withRecord = (given: object[]) =>
    objectOf('Gate', {
      metadata: { ...APP, annotations: { [APPROVAL_KEYS.Gate.record]: JSON.stringify({ given }) } },
    } as never);
  const approval = approvalChange(withRecord(before) as never, version, is);
  const plan = patchWrite(gate, {}, { text: '', approval });
  const { sent } = await made([plan], {}, withRecord(after));
  const problem = `No approval of ${version} was ${is === 'given' ? 'recorded' : 'withdrawn'} at Gate shop/app.`;
  expect(sent).toMatchObject({ unrecorded: isRecorded ? undefined : problem });
});
