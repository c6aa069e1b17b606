import { describe, expect, it } from 'vitest';
import { mayNameUser, whyIneligible } from '../../../core/approval/approvalVerdict.ts';

describe('a text that may mean a user', () => {
  it.each([
    ['alice', 'alice'],
    ['Alice', 'alice'],
    ['Alice Miller <alice@example.com>', 'alice@example.com'],
    ['alice@example.com', 'oidc:alice@example.com'],
    ['alice@home.example', 'https://idp.example.com#alice@example.com'],
    ['Alice Miller', 'alice.miller@example.com'],
    ['Miller, Alice', 'oidc:alice.miller'],
    ['https://github.com/alice', 'github:alice'],
    ['1234+alice@users.noreply.example', 'alice'],
    ['bob, "carol" <c@x>; alice', 'alice'],
    ['A. Miller <alice.miller@example.com>', 'alice.miller'],
    [Array(300).fill('x').join(' '), 'alice'],
    ['x'.repeat(1025), 'alice'],
  ])('%j may mean %s', (text, user) => expect(mayNameUser(text, user)).toBe(true));

  it.each([
    ['', 'alice'],
    ['Bob', 'alice'],
    ['alice', 'alice.miller@example.com'],
    ['malice@example.com', 'alice@example.com'],
    ['the Alice-in-Chains team', 'bob'],
    ['x'.repeat(1024), 'alice'],
  ])('%j does not mean %s', (text, user) => expect(mayNameUser(text, user)).toBe(false));
});

describe('a person', () => {
  it.each([
    ['alice', undefined],
    ['system:admin', undefined],
    ['system:anonymous', 'is a system user'],
    ['system:node:a', 'is a system user'],
    ['system:serviceaccount:ci:other', 'is a ServiceAccount'],
    ['system:serviceaccount:ci:bot', undefined],
  ])('%s', (user, why) => {
    const problem = whyIneligible(user, { serviceAccounts: ['ci/bot'] });
    if (why === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(why);
  });
});
