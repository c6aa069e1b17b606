/** A server's certificate and the CA of its clients, read again when a file changes. */
import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { TlsFiles } from '../config.ts';
import { type FileLog, watchFiles } from '../fileWatch.ts';

interface Read {
  /** The text of all files, to detect a change. */
  text: string;
  options: SecureContextOptions;
  validFrom: EpochMs;
  validTo: EpochMs;
}

/**
 * @param before returned if no file has changed: parsed every second, the files took a third of an idle server's time
 * @throws Error with a sentence that names the file
 */
function readTls({ cert, key, clientCa }: TlsFiles, before: Read | undefined): Read {
  const options = {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
    ...(clientCa && { ca: readFileSync(clientCa, 'utf8') }),
    minVersion: 'TLSv1.2',
    // A resumed session would keep its first client certificate, even after the CA has been replaced.
    secureOptions: constants.SSL_OP_NO_TICKET,
  } as const;
  const text = [options.cert, options.key, options.ca].join('\n');
  if (text === before?.text) return before;
  const certificate = parsed(cert, options.cert);
  if (clientCa) parsed(clientCa, options.ca!);
  // TLS accepts a certificate without a key, and then refuses every connection.
  if (!/-----BEGIN .*PRIVATE KEY-----/.test(options.key))
    throw new Error(`${key} has no PEM key: write the private key as PEM`);
  try {
    createSecureContext(options);
  } catch (error) {
    throw new Error(`${cert} and ${key} do not match: ${(error as Error).message}`);
  }
  return { text, options, validFrom: certificate.validFromDate.getTime(), validTo: certificate.validToDate.getTime() };
}

function parsed(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new Error(`${file} has no PEM certificate: write the certificate as PEM`);
  }
}

/**
 * Follows the files. If the new ones are half written, don't match or have expired, the last good ones stay in use.
 * @param expires called with the time at which the certificate in use expires
 * @throws Error if there are no good files at the start
 */
export function watchTls(
  files: TlsFiles,
  apply: (options: SecureContextOptions) => void,
  log: FileLog,
  expires: (at: EpochMs) => void = () => {},
): { options: SecureContextOptions; stop(): void } {
  const isValid = ({ validFrom, validTo }: Read) => validFrom <= Date.now() && Date.now() < validTo;
  const { current, stop } = watchFiles<Read>({
    what: `certificate ${files.cert}`,
    read(before) {
      const read = readTls(files, before);
      if (before && read !== before && isValid(before) && !isValid(read)) {
        throw new Error(`${files.cert} is not valid now: renew it, or correct the clock of this machine`);
      }
      return read;
    },
    isSame: (a, b) => a === b,
    onChange: ({ options, validTo }) => {
      apply(options);
      expires(validTo);
    },
    log,
  });
  expires(current().validTo);
  if (!isValid(current()))
    log.error(
      { file: files.cert },
      'the certificate is not valid now, so no client will trust it: renew it, or correct the clock',
    );
  return { options: current().options, stop };
}
