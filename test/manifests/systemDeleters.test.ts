import { expect, it } from 'vitest';
import { SYSTEM_DELETERS } from '../../core/kube/users.ts';
import { objectIn } from './files.ts';

interface Webhook {
  name: string;
  rules: { operations: string[] }[];
  matchConditions: { name: string; expression: string }[];
}

const webhooks: Webhook[] = objectIn('webhooks/validating.yaml').webhooks;
const onDelete = webhooks.filter(({ rules }) => rules.some(({ operations }) => operations.includes('DELETE')));

it.each(onDelete.map((webhook) => [webhook.name, webhook] as const))(
  '%s lets those pass, also while the server is down, whom the code lets delete',
  (_, { matchConditions }) => {
    const { expression } = matchConditions.find(({ name }) => name === 'not-garbage-collection')!;
    const users = [...expression.matchAll(/'(system:[^']+)'/g)].map(([, user]) => user);
    expect(users.sort()).toEqual([...SYSTEM_DELETERS].sort());
  },
);
