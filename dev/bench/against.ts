/**
 * The same bench on the server and the manifests of another version, in turns, so that other load of the machine
 * affects both.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { logToStderr } from '../local/process/log.ts';
import { temporaryDirectory } from '../local/process/temporaryDirectory.ts';
import { REPOSITORY } from '../repository.ts';
import { quantile } from './measure.ts';
import { type Figure, rounded } from './scenario.ts';

/**
 * Runs this command line for both versions in turns, each named by BENCH_PRODUCT, and prints the medians and their
 * ratio. Resolves to the exit code.
 */
export async function compare(ref: string, pairs: number): Promise<number> {
  const { path, remove } = temporaryDirectory('rollout-hooks-against-');
  const other = join(path, 'clone');
  try {
    git('worktree', 'add', '--detach', other, ref);
    installInto(other);
    const found = { ours: [] as Figure[][], theirs: [] as Figure[][] };
    for (let pair = 1; pair <= pairs; pair++) {
      // Each begins in turn, because a machine that has just been idle may be slower or faster.
      const turns = pair % 2 === 1 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
      logToStderr(`Pair ${pair} of ${pairs}: ${turns[0] === 'ours' ? `ours, then ${ref}` : `${ref}, then ours`}`);
      for (const turn of turns) found[turn].push(await figuresOf(turn === 'ours' ? REPOSITORY : other));
    }
    process.stdout.write(asTable(ref, found.ours, found.theirs));
    return 0;
  } finally {
    git('worktree', 'remove', '--force', other);
    remove();
  }
}

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: REPOSITORY, stdio: ['ignore', 'ignore', 'inherit'] });

/** Installs dependencies into the clone, or links ours if both versions lock the same. */
function installInto(clone: string): void {
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lock(clone) === lock(REPOSITORY)) symlinkSync(join(REPOSITORY, 'node_modules'), join(clone, 'node_modules'));
  else execFileSync(process.execPath, ['dev/scripts/bootstrap.mjs'], { cwd: clone, stdio: 'inherit' });
}

async function figuresOf(product: string): Promise<Figure[]> {
  const child = spawn(process.execPath, [...process.argv.slice(1), '--json'], {
    env: { ...process.env, BENCH_PRODUCT: product },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await json(child.stdout)) as Figure[];
}

function asTable(ref: string, ours: readonly Figure[][], theirs: readonly Figure[][]): string {
  const median = (runs: readonly Figure[][], { group, name }: Figure) =>
    quantile(
      runs.flat().flatMap((one) => (one.group === group && one.name === name ? [one.value] : [])),
      0.5,
    );
  const rows = ours[0]!.map((figure) => {
    const [our, their] = [median(ours, figure), median(theirs, figure)];
    const cells = [our, their, our / their].map((value) => rounded(value).padStart(10)).join('');
    return `  ${`${figure.group}: ${figure.name}`.padEnd(96)}${cells} ${figure.unit}\n`;
  });
  return `${' '.repeat(98)}      ours${ref.slice(0, 9).padStart(10)}     ratio\n${rows.join('')}`;
}
