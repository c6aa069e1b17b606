/**
 * The identity of a control plane: authority, key of ServiceAccount tokens, users' tokens and port. Stored in its
 * directory, so that a copied kubeconfig works after a later start.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isFree } from '../process/ports.ts';
import { type CertificateAuthority, createAuthority, createSigningKey, type KeyPair } from './certificates.ts';
import { createTokens, type Tokens } from './users.ts';

interface Identity {
  authority: CertificateAuthority;
  signing: ReturnType<typeof createSigningKey>;
  tokens: Tokens;
  /** Port of the API server. */
  port: number;
}

interface Stored {
  authority: KeyPair;
  signing: Identity['signing'];
  tokens: Tokens;
  port: number;
}

/** The shortest remaining lifetime of an authority that is reused: its certificates expire with it. */
const LEAST_LIFETIME_MS = 30 * 24 * 3_600_000;

/** The identity in the directory, created or completed. `port`: 0 for the port of the last start, or a free one. */
export async function identityIn(dir: string, port: number, nowMs: number): Promise<Identity> {
  const file = join(dir, 'identity.json');
  const stored = read(file);
  const isUsable = stored !== undefined && endOf(stored.authority) > nowMs + LEAST_LIFETIME_MS;
  const identity: Identity = {
    authority: await createAuthority(nowMs, { existing: isUsable ? stored.authority : undefined }),
    signing: stored?.signing ?? createSigningKey(),
    tokens: { ...createTokens(), ...stored?.tokens },
    port: port || (await portOf(stored)),
  };
  const { certificate, key } = identity.authority;
  writeFileSync(file, JSON.stringify({ ...identity, authority: { certificate, key } } satisfies Stored), {
    mode: 0o600,
  });
  return identity;
}

async function portOf(stored: Stored | undefined): Promise<number> {
  return stored && (await isFree(stored.port)) ? stored.port : freePort();
}

/** The stored identity; undefined if there is none, or it is incomplete. */
function read(file: string): Stored | undefined {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Stored;
    return endOf(stored.authority) > 0 && stored.signing.key && stored.port > 0 ? stored : undefined;
  } catch {
    return undefined;
  }
}

function endOf({ certificate }: KeyPair): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}
