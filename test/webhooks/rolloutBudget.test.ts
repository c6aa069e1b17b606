/** A write of a budget that continues a version: its user is recorded. */
import { expect, it } from 'vitest';
import { mutateRolloutBudget } from '../../webhooks/otherKinds.ts';
import { object } from '../hooks/rollout/call.ts';
import { write } from './gate/call.ts';

const CONTINUE = 'rollout.kuberik.com/continue';
const RECORD = 'rollout.kuberik.com/continue-request';
const AT = '2026-03-01T12:00:00Z';
const recorded = (id: string, by: string) => JSON.stringify({ id, by, at: AT });

const budget = (annotations: Record<string, string> = {}) => {
  const made = object('kuberik.com/v1alpha1', 'RolloutBudget', 'fleet', { selector: {}, maxConcurrent: 1 });
  return { ...made, metadata: { ...made.metadata, annotations } };
};

it.each<[string, Record<string, string>, Record<string, string>]>([
  ['a request', { [CONTINUE]: '1.2.0' }, {}],
  ['a request in another’s name', { [CONTINUE]: '1.2.0', [RECORD]: recorded('uid-9', 'bob') }, {}],
  ['a record alone', { [RECORD]: recorded('uid-9', 'bob') }, {}],
  [
    'a record that stays',
    { [CONTINUE]: '1.2.0', [RECORD]: recorded('uid-0', 'alice') },
    { [CONTINUE]: '1.2.0', [RECORD]: recorded('uid-0', 'alice') },
  ],
])('%s is allowed, and records no other user', async (_, annotations, before) => {
  const of = { object: budget(annotations), old: budget(before), user: 'mallory', at: AT, objects: [] };
  const { allowed, object: stored } = await write(mutateRolloutBudget, of);
  expect(allowed).toBe(true);
  expect(stored!.metadata.annotations?.[RECORD] ?? '').not.toContain('bob');
});

it.each([
  ['1.2.0', true],
  ['registry.example:5000/team/app:1.2.0', true],
  ['ImagePolicy shop/app:1.2.0', true],
  ['', true],
  ['1.2.0;$(touch /tmp/x)', false],
  ['$(touch /tmp/x):1.2.0', false],
  ['1.2.0\nContinued', false],
  [`${'x'.repeat(1100)}:1.2.0`, false],
])('a request to continue %j: allowed is %s', async (value, isAllowed) => {
  const of = { object: budget({ [CONTINUE]: value }), old: budget(), at: AT, objects: [] };
  const first = await write(mutateRolloutBudget, of);
  expect(first.allowed).toBe(isAllowed);
  if (!isAllowed) expect(first.message).toContain(`metadata.annotations[${CONTINUE}]: Invalid value`);
  // A stored problem blocks no other write.
  const later = { ...of, old: of.object, object: budget({ [CONTINUE]: value, seen: 'yes' }) };
  expect((await write(mutateRolloutBudget, later)).allowed).toBe(true);
});
