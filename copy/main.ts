/** Composition root of the copy command: its command line, environment, clock, files and sockets enter here. */

import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isLegalTag } from '../core/kube/tag.ts';
import { isDigest } from '../core/releaseCopy/manifest.ts';
import { COPY_OUTCOMES, CopyFailure, type CopyOutcome } from '../core/releaseCopy/outcome.ts';
import { COPY_LIMITS } from '../core/releaseCopy/release.ts';
import { errorText } from '../core/text/errorText.ts';
import { oneLine } from '../core/text/oneLine.ts';
import { createBlobCopier } from '../server/copy/blob.ts';
import { createSession, type Retries, type Side } from '../server/copy/registrySession.ts';
import { createSource, createTarget } from '../server/copy/repository.ts';
import { secretsIn } from '../server/copy/secrets.ts';
import { RegistryError } from '../server/registry/error.ts';
import { type Image, parseImage } from '../server/registry/image.ts';
import { registrySockets } from '../server/registry/sockets.ts';
import { type Copied, copyRelease } from './copyRelease.ts';

const USAGE = `Usage: node copy/main.ts --source oci://HOST/PATH --target oci://HOST/PATH --tag TAG [options]

Copies one release: the manifest or index under TAG with all that it refers to, and the signatures, attestations and
SBOMs that refer to it. Skips what the target has. The target gets TAG last, after everything else is there.

  --digest DIGEST             the manifest to copy as TAG, even if the source's TAG has another one now
  --overwrite                 move TAG if the target has it with another digest; without it, that is a conflict
  --source-secret DIR         a mounted Secret of type kubernetes.io/dockerconfigjson; also --target-secret
  --source-certificates DIR   a mounted Secret with ca.crt, or tls.crt and tls.key; also --target-certificates
  --source-insecure           plain HTTP; also --target-insecure
  --timeout SECONDS           for the whole copy (3600)
  --attempts NUMBER           of each request after 408, 429, 5xx, a timeout, a broken connection or wrong bytes (6)
  --idle-timeout SECONDS      for which a registry may neither send nor take anything (60)
  --termination-log FILE      gets the result too, if the file exists (/dev/termination-log)

With ALLOW_LOCAL_REGISTRIES=true in the environment, registries may have loopback and link-local addresses.

Progress goes to standard error, the result to standard output as one line of JSON. Exit codes:
${Object.entries(COPY_OUTCOMES)
  .map(([outcome, code]) => `  ${String(code).padStart(3)} ${outcome}`)
  .join('\n')}
`;

const OPTIONS = {
  help: { type: 'boolean' },
  source: { type: 'string' },
  target: { type: 'string' },
  tag: { type: 'string' },
  digest: { type: 'string' },
  overwrite: { type: 'boolean' },
  'source-secret': { type: 'string' },
  'target-secret': { type: 'string' },
  'source-certificates': { type: 'string' },
  'target-certificates': { type: 'string' },
  'source-insecure': { type: 'boolean' },
  'target-insecure': { type: 'boolean' },
  attempts: { type: 'string', default: '6' },
  timeout: { type: 'string', default: '3600' },
  'idle-timeout': { type: 'string', default: '60' },
  'termination-log': { type: 'string', default: '/dev/termination-log' },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** The most characters in the termination log, of which Kubernetes keeps 4096 bytes. */
const MAX_MESSAGE_CHARACTERS = 2048;

interface Outside {
  /** Whether registries may be on this machine. */
  allowLocal: boolean;
  say(line: string): void;
  /** Aborted by the first failure, which ends all running requests. */
  end: AbortController;
}

async function copy(options: Options, { allowLocal, say, end }: Outside): Promise<Copied> {
  const { signal } = end;
  const { tag = '', digest, overwrite = false } = options;
  const source = imageOf(options, 'source');
  const target = imageOf(options, 'target');
  if (!isLegalTag(tag)) throw usageError(`--tag ${JSON.stringify(tag.slice(0, 150))} is not a tag`);
  if (digest !== undefined && !isDigest(digest)) throw usageError('--digest is not a sha256 or sha512 digest');
  const sameRegistry = source.host === target.host;
  if (sameRegistry && source.repository === target.repository)
    throw usageError('--source and --target are the same repository');

  const attempts = numberOf(options, 'attempts');
  const retries: Retries = {
    attempts,
    signal,
    wait: (ms) => wait(ms, undefined, { signal }),
    random: Math.random,
    say,
  };
  const sockets = registrySockets({ allowLocal });
  const idleMs = numberOf(options, 'idle-timeout') * 1000;
  const sessionOf = (side: Side, image: Image, mountFrom?: string) => {
    const folders = { login: options[`${side}-secret`], certificates: options[`${side}-certificates`] };
    const insecure = options[`${side}-insecure`] === true;
    return createSession({ side, image, insecure, ...secretsIn(image, folders), mountFrom, sockets, idleMs, retries });
  };
  const from = sessionOf('source', source);
  const to = sessionOf('target', target, sameRegistry ? source.repository : undefined);
  try {
    const repositories = {
      source: createSource(from, COPY_LIMITS.manifestBytes),
      target: createTarget(to, COPY_LIMITS.manifestBytes),
      copyBlob: createBlobCopier(from, to, sameRegistry),
    };
    return await copyRelease({ tag, overwrite, ...(digest !== undefined && { digest }) }, repositories, say);
  } catch (error) {
    end.abort(error);
    throw error;
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

function imageOf(options: Options, side: Side): Image {
  try {
    return parseImage((options[side] ?? '').replace(/^oci:\/\//, ''));
  } catch (error) {
    throw usageError(`--${side}: ${(error as Error).message}`);
  }
}

function numberOf(options: Options, name: 'attempts' | 'timeout' | 'idle-timeout'): number {
  const text = options[name];
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw usageError(`--${name} is not a number from 1 to 999999`);
  return Number(text);
}

const usageError = (message: string) => new CopyFailure('Usage', `${message}; see --help`);

function failureOf(cause: unknown): { outcome: CopyOutcome; message: string } {
  if (cause instanceof CopyFailure) return { outcome: cause.outcome, message: cause.message };
  if (cause instanceof RegistryError) return { outcome: cause.failure, message: cause.message };
  return { outcome: 'Unexpected', message: errorText(cause) };
}

type Result = { outcome: CopyOutcome; message: string };

/** Runs the command. Also writes the result to the termination log; undefined if the arguments request help. */
export async function runCopy(args: string[], outside: Outside): Promise<Result | undefined> {
  const { end } = outside;
  const say = (line: string) => outside.say(oneLine(line));
  let terminationLog: string = OPTIONS['termination-log'].default;
  const report = (whole: Result) => {
    const result = { ...whole, message: oneLine(whole.message).slice(0, MAX_MESSAGE_CHARACTERS) };
    if (existsSync(terminationLog)) writeFileSync(terminationLog, `${JSON.stringify(result)}\n`);
    if (result.outcome !== 'Copied') say(`${result.outcome}: ${whole.message}`);
    return result;
  };
  let options: Options;
  try {
    options = parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    return report({ outcome: 'Usage', message: `${(error as Error).message}; see --help` });
  }
  if (options.help) return undefined;
  terminationLog = options['termination-log'];
  try {
    const seconds = numberOf(options, 'timeout');
    const late = new CopyFailure(
      'Unavailable',
      `the copy did not finish within ${seconds} s: start it again. Parts that the target has are not sent again`,
    );
    setTimeout(() => end.abort(late), seconds * 1000).unref();
    return report({ outcome: 'Copied', ...(await copy(options, { ...outside, say })) });
  } catch (error) {
    return report(failureOf(end.signal.aborted ? end.signal.reason : error));
  }
}

async function main(): Promise<void> {
  const end = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => end.abort(new CopyFailure('Interrupted', `interrupted by ${name}`)));
  }
  const result = await runCopy(process.argv.slice(2), {
    allowLocal: process.env.ALLOW_LOCAL_REGISTRIES === 'true',
    say: (line) => process.stderr.write(`${line}\n`),
    end,
  });
  if (!result) return void process.stdout.write(USAGE);
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(COPY_OUTCOMES[result.outcome]));
}

if (import.meta.main) await main();
