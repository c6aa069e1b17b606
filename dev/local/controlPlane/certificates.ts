/** A certificate authority, and server certificates signed by it. */
import { generateKeyPairSync } from 'node:crypto';
import { generate } from 'selfsigned';

export interface KeyPair {
  /** PEM. */
  certificate: string;
  /** PEM, PKCS 8. */
  key: string;
}

interface IssueOptions {
  use?: 'server' | 'client';
  /** A year from now by default. */
  notAfterMs?: number;
}

export interface CertificateAuthority extends KeyPair {
  /** A certificate for a TLS server on loopback, or for a client. */
  issue(commonName: string, options?: IssueOptions): Promise<KeyPair>;
}

/** A year: longer than a control plane on a laptop runs without a restart. */
const LIFETIME_MS = 365 * 24 * 3_600_000;

/** A certificate authority; `existing` reuses an earlier one. */
export async function createAuthority(
  nowMs: number,
  { name = 'rollout-hooks local authority', existing }: { name?: string; existing?: KeyPair | undefined } = {},
): Promise<CertificateAuthority> {
  const common = {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - 60_000),
    notAfterDate: new Date(nowMs + LIFETIME_MS),
  } as const;
  const newRoot = async (): Promise<KeyPair> => {
    const root = await generate([{ name: 'commonName', value: name }], {
      ...common,
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      ],
    });
    return { certificate: root.cert, key: root.private };
  };
  const authority = existing ?? (await newRoot());
  const issue = async (commonName: string, { use = 'server', notAfterMs }: IssueOptions = {}): Promise<KeyPair> => {
    const issued = await generate([{ name: 'commonName', value: commonName }], {
      ...common,
      ...(notAfterMs !== undefined && { notAfterDate: new Date(notAfterMs) }),
      ca: { cert: authority.certificate, key: authority.key },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', [use === 'server' ? 'serverAuth' : 'clientAuth']: true },
        {
          name: 'subjectAltName',
          altNames: [
            { type: 7, ip: '127.0.0.1' },
            { type: 2, value: 'localhost' },
          ],
        },
      ],
    });
    return { certificate: issued.cert, key: issued.private };
  };
  return { ...authority, issue };
}

/** Key pair with which the API server signs and checks ServiceAccount tokens, both halves as PEM. */
export function createSigningKey(): { key: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
