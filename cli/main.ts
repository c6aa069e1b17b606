/** Composition root of the command: arguments, environment, clock, streams and signals enter here. Two names: kubectl-rollouts, flux-rollouts. */
import './node20.ts';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { EXIT } from '../tools/kube/problem.ts';
import { ownFile } from './files.ts';
import { COMPLETE, run } from './runCommand.ts';

/** The name by which it was called, of a script or of the executable: `kubectl-rollouts` is `kubectl rollouts`. */
const [, caller = 'kubectl', complete] =
  /^(kubectl|flux)(_complete)?-rollouts/.exec(basename(process.argv[1] ?? '')) ?? [];

/** From the sources it is that of the repository. */
function versionOf(): string {
  const text = ownFile('package.json') ?? readFileSync(new URL('../package.json', import.meta.url));
  return (JSON.parse(Buffer.from(text).toString('utf8')) as { version: string }).version;
}

const interrupted = new AbortController();
process.once('SIGINT', () => {
  interrupted.abort();
  // A second Ctrl-C ends the program at once.
  process.once('SIGINT', () => process.exit(EXIT.interrupted));
});
process.once('SIGTERM', () => interrupted.abort());
// `… | head` has read enough.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}

/** An error in the program: a minified line of the bundle is no help. */
function faultText(error: unknown): string {
  const { name = 'Error', message = String(error), stack } = error as Error;
  const where = process.env.ROLLOUTS_DEBUG ? `\n${stack}` : ' ROLLOUTS_DEBUG=1 prints where.';
  return `This is a fault of the command itself, please report it: ${name}: ${message}.${where}\n`;
}

const inputs = {
  args: [...(complete ? [COMPLETE] : []), ...process.argv.slice(2)],
  env: process.env,
  program: `${caller} rollouts`,
  version: versionOf(),
  now: () => Date.now(),
  timeZone: process.env.TZ || Intl.DateTimeFormat().resolvedOptions().timeZone,
  signal: interrupted.signal,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
};

process.exitCode = await run(inputs).catch((error: unknown) => {
  process.stderr.write(faultText(error));
  return EXIT.error;
});
