/** The identities that a reader may have at the API server. */
import { describe, expect, it } from 'vitest';
import { identityOfClaims, identityOfProxy, isIdentity, MAX_GROUPS } from '../../../page/inCluster/identity.ts';

const NAMING = { usernameClaim: 'email', usernamePrefix: '', groupsClaim: 'groups', groupsPrefix: '' };
const PREFIXED = { ...NAMING, usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' };
const problemOf = (claims: Record<string, unknown>, naming = NAMING) => {
  const found = identityOfClaims(claims, naming);
  return 'problem' in found ? found.problem : undefined;
};

describe('claims', () => {
  it('become a user and groups, each once', () => {
    const claims = { email: 'alice@example.com', email_verified: true, groups: ['shop', 'shop', 'on call'] };
    const identity = { user: 'alice@example.com', groups: ['shop', 'on call'] };
    expect(identityOfClaims(claims, NAMING)).toEqual({ identity });
  });

  it('get prefixes, as from the API server', () => {
    const identity = { user: 'oidc:a@b', groups: ['oidc:shop'] };
    expect(identityOfClaims({ email: 'a@b', groups: 'shop' }, PREFIXED)).toEqual({ identity });
  });

  it('without groups are a user alone', () => {
    expect(identityOfClaims({ sub: 'alice' }, { ...NAMING, usernameClaim: 'sub' })).toEqual({
      identity: { user: 'alice', groups: [] },
    });
  });

  it.each([
    [{ email: 'system:admin' }, 'reserved for Kubernetes'],
    [{ email: ' System:admin' }, 'reserved for Kubernetes'],
    [{ email: 'a@b', groups: ['shop', 'system:masters'] }, 'reserved for Kubernetes'],
    [{ email: 'a@b', groups: 'system:masters' }, 'reserved for Kubernetes'],
    [{ email: 'a@b', email_verified: false }, 'not verified'],
    [{ email: 'a@b', email_verified: 'true' }, 'not verified'],
    [{}, 'claim email of the issuer'],
    [{ email: ['a@b'] }, 'claim email of the issuer'],
    [{ email: '' }, 'is empty'],
    [{ email: 'a@b\r\nImpersonate-Group: system:masters' }, 'other than printable ASCII'],
    [{ email: 'a@b ' }, 'other than printable ASCII'],
    [{ email: 'jürgen@example.com' }, 'other than printable ASCII'],
    [{ email: 'a'.repeat(257) }, 'longer than 256'],
    [{ email: 'a@b', groups: [1] }, 'not a list of strings'],
    [{ email: 'a@b', groups: { a: 1 } }, 'not a list of strings'],
    [{ email: 'a@b', groups: Array.from({ length: MAX_GROUPS + 1 }, (_, i) => `g${i}`) }, 'at most 100'],
  ])('%j end the sign-in', (claims, problem) => {
    expect(problemOf(claims)).toContain(problem);
  });

  it('that begin with system: end it with a prefix too', () => {
    expect(problemOf({ email: 'a@b', groups: ['system:masters'] }, PREFIXED)).toContain('reserved for Kubernetes');
    expect(problemOf({ email: 'em:x' }, { ...NAMING, usernamePrefix: 'syst' })).toContain('reserved for Kubernetes');
  });
});

it('a proxy names user and groups', () => {
  expect(identityOfProxy('alice', 'shop, search,')).toEqual({
    identity: { user: 'alice', groups: ['shop', 'search'] },
  });
  expect(identityOfProxy(undefined, 'shop')).toHaveProperty('problem');
  expect(identityOfProxy('alice', 'shop,system:masters')).toHaveProperty('problem');
  expect(identityOfProxy('system:serviceaccount:a:b', undefined)).toHaveProperty('problem');
});

it.each([undefined, {}, { user: 'a' }, { user: 'a', groups: [1] }, { user: 'system:admin', groups: [] }])(
  'a cookie with %j is no session',
  (content) => {
    expect(isIdentity(content)).toBe(false);
  },
);
