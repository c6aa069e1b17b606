import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTokens, kubeconfigOf, tokenFile } from '../../../../dev/local/controlPlane/users.ts';

describe('users', () => {
  it('are in the token file with their groups', () => {
    const tokens = createTokens();
    const lines = tokenFile(tokens).trimEnd().split('\n');
    expect(lines).toContain(`${tokens.admin},admin,admin,"system:masters"`);
    expect(lines).toContain(`${tokens.developer},developer,developer`);
    expect(lines).toContain(
      `${tokens.flux},system:serviceaccount:flux-system:kustomize-controller,flux,"system:serviceaccounts,system:serviceaccounts:flux-system"`,
    );
  });

  it('have tokens of their own', () => {
    const tokens = Object.values(createTokens());
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('have a kubeconfig with server, authority and token', () => {
    const config = parse(kubeconfigOf('developer', { url: 'https://127.0.0.1:1', ca: 'PEM', token: 't' }));
    expect(config.clusters[0].cluster).toEqual({
      server: 'https://127.0.0.1:1',
      'certificate-authority-data': Buffer.from('PEM').toString('base64'),
    });
    expect(config.users).toEqual([{ name: 'developer', user: { token: 't' } }]);
  });
});
