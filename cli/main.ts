/** The entry point of the command: arguments, environment, clock, streams and signals enter here. */
import './node20.ts';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { EXIT } from '../client/problem.ts';
import { ownFile } from './files.ts';
import { COMPLETE, run } from './runCommand.ts';

/** The parts of the name by which the program was called: `kubectl-rollouts` is `kubectl rollouts`. */
const [, caller = 'kubectl', complete] =
  /^(kubectl|flux)(_complete)?-rollouts/.exec(basename(process.argv[1] ?? '')) ?? [];

/** The program's version; run from the sources, the repository's. */
function readVersion(): string {
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
// A reader that closes the pipe, as in `… | head`, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}

/** The text of a fault in the program, without a stack by default: lines of the bundle are minified. */
function faultText(error: unknown): string {
  const { name = 'Error', message = String(error), stack } = error as Error;
  const where = process.env.ROLLOUTS_DEBUG ? `\n${stack}` : ' ROLLOUTS_DEBUG=1 prints the stack.';
  return `Internal error: ${name}: ${message}. Please report it.${where}\n`;
}

const inputs = {
  args: [...(complete ? [COMPLETE] : []), ...process.argv.slice(2)],
  env: process.env,
  program: `${caller} rollouts`,
  version: readVersion(),
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
