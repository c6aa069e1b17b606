/** A server's certificate and the CA of its clients, read again when a file changes. */
import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsFiles } from '../config.ts';
import { type FileLog, watchFiles } from '../fileWatch.ts';

interface Read {
  /** The text of all files, to detect a change. */
  text: string;
  options: SecureContextOptions;
  validFrom: number;
  validTo: number;
}

/** @throws Error with a sentence that names the file. */
function readTls({ cert, key, clientCa }: TlsFiles): Read {
  const options: SecureContextOptions = {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
    minVersion: 'TLSv1.2',
    // A resumed session would keep its first client certificate, even after the CA has been replaced.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
  const certificate = parsed(cert, options.cert as string);
  // TLS accepts a certificate without a key, and then refuses every connection.
  if (!/-----BEGIN .*PRIVATE KEY-----/.test(options.key as string))
    throw new Error(`${key} has no PEM key: write the private key as PEM`);
  try {
    createSecureContext(options);
  } catch (error) {
    throw new Error(`${cert} and ${key} do not match: ${(error as Error).message}`);
  }
  if (clientCa) {
    options.ca = readFileSync(clientCa, 'utf8');
    parsed(clientCa, options.ca);
  }
  return {
    text: [options.cert, options.key, options.ca].join('\n'),
    options,
    validFrom: certificate.validFromDate.getTime(),
    validTo: certificate.validToDate.getTime(),
  };
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
 * @throws Error if there are no good files at the start
 */
export function watchTls(
  files: TlsFiles,
  apply: (options: SecureContextOptions) => void,
  log: FileLog,
): { options: SecureContextOptions; stop(): void } {
  const isValid = ({ validFrom, validTo }: Read) => validFrom <= Date.now() && Date.now() < validTo;
  const { current, stop } = watchFiles<Read>({
    what: `certificate ${files.cert}`,
    read(before) {
      const read = readTls(files);
      if (before && read.text !== before.text && isValid(before) && !isValid(read)) {
        throw new Error(`${files.cert} is not valid now: renew it, or correct the clock of this machine`);
      }
      return read;
    },
    isSame: (a, b) => a.text === b.text,
    onChange: ({ options }) => apply(options),
    log,
  });
  if (!isValid(current()))
    log.error(
      { file: files.cert },
      'the certificate is not valid now, so no client will trust it: renew it, or correct the clock',
    );
  return { options: current().options, stop };
}
