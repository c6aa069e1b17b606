/** The webhook's certificate and the authority of its clients, read again when a file changes: both are rotated in place. */
import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Paths of PEM files. */
export interface TlsFiles {
  cert: string;
  key: string;
  /** Of those who may call; anybody may without it. */
  clientCa?: string;
}

export interface TlsLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const POLL_MS = 1_000;

interface Read {
  /** All files as one: whether anything has changed. */
  text: string;
  options: SecureContextOptions;
  validFrom: number;
  validTo: number;
}

/** @throws Error with a sentence that names the file. */
export function readTls({ cert, key, clientCa }: TlsFiles): Read {
  const options: SecureContextOptions = {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
    minVersion: 'TLSv1.2',
    // A resumed session counts with the certificate it began with, whatever has become of the authority since.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
  const certificate = parsed(cert, options.cert as string);
  try {
    createSecureContext(options);
  } catch (error) {
    throw new Error(`${cert} and ${key} do not belong together: ${(error as Error).message}`);
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
    throw new Error(`${file} has no certificate in PEM`);
  }
}

export interface Watching {
  options: SecureContextOptions;
  stop(): void;
}

/**
 * Reads the files now and from time to time. What is half written, does not belong together or has ended is not taken: the
 * last good ones stay. @throws when there are none at the start.
 */
export function watchTls(
  files: TlsFiles,
  take: (options: SecureContextOptions) => void,
  log: TlsLog,
  pollMs = POLL_MS,
): Watching {
  let taken = readTls(files);
  let problem: string | undefined;
  const isValid = ({ validFrom, validTo }: Read) => validFrom <= Date.now() && Date.now() < validTo;
  if (!isValid(taken)) log.error({ file: files.cert }, 'the certificate is not valid now: nobody will trust it');

  const poll = () => {
    try {
      const read = readTls(files);
      if (read.text !== taken.text) {
        if (!isValid(read) && isValid(taken)) throw new Error(`${files.cert} is not valid now`);
        take(read.options);
        taken = read;
        log.info({ file: files.cert }, 'certificates taken anew');
      }
      problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) log.error({ problem: message }, 'the certificates before stay, trying again');
      problem = message;
    }
  };
  const timer = setInterval(poll, pollMs);
  timer.unref();
  return { options: taken.options, stop: () => clearInterval(timer) };
}
