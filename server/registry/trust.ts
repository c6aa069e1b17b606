/** Certificate authorities and a client certificate from a Secret, such as that of `certSecretRef`. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates } from 'node:tls';

export interface Trust {
  /**
   * PEM: the Secret's authorities, and the well-known ones, since a token server may use another one than the registry.
   */
  ca?: string[];
  /** PEM: a client certificate and its key. */
  cert?: string;
  key?: string;
}

/** The trust in the keys `ca.crt`, `tls.crt` and `tls.key` of a Secret's `data`, or why it can't be used. */
export function trustOf(data: Record<string, string> | undefined): Trust | { problem: string } {
  const text = (key: string) => {
    const value = data?.[key];
    return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
  };
  const [ca, cert, key] = [text('ca.crt'), text('tls.crt'), text('tls.key')];
  if (!ca && !cert && !key) return { problem: 'it has neither ca.crt nor tls.crt and tls.key' };
  if (!cert !== !key) return { problem: 'tls.crt and tls.key go together, but only one is there' };
  if (ca && !isCertificate(ca)) return { problem: 'ca.crt is not a certificate in PEM' };
  if (cert && key && !fits(cert, key))
    return { problem: 'tls.crt and tls.key are not a certificate and its key in PEM' };
  return { ...(ca && { ca: [...rootCertificates, ca] }), ...(cert && key && { cert, key }) };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function fits(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
