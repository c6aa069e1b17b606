/** Prints at the end of a run its time by project, the slowest files, and skipped tests. */
import { relative } from 'node:path';
import type { Reporter, TestCollection, TestModule } from 'vitest/node';

const SHOWN = 15;

/** Seconds of each file, including setup. Files run in parallel, so that the sums exceed the duration of the run. */
function timeTable(files: readonly { project: string; file: string; seconds: number }[]): string {
  const line = (seconds: number, what: string) => `${seconds.toFixed(0).padStart(7)} s  ${what}`;
  const sums = Map.groupBy(files, ({ project }) => project);
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
  return [
    'Where the time went',
    ...[...sums].map(([project, of]) =>
      line(
        of.reduce((sum, { seconds }) => sum + seconds, 0),
        `${project}: ${of.length} files`,
      ),
    ),
    '',
    ...slowest.map(({ seconds, file }) => line(seconds, file)),
  ].join('\n');
}

/** Names of skipped tests, or of a suite instead of all its tests. A name has the requirement. */
function skippedIn(children: TestCollection): string[] {
  return [...children].flatMap((child) => {
    const state = child.type === 'test' ? child.result().state : child.state();
    if (state === 'skipped') return [child.name];
    return child.type === 'suite' ? skippedIn(child.children) : [];
  });
}

export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    // For a few files, Vitest prints the times itself.
    if (modules.length <= SHOWN) return;
    const fileOf = (module: TestModule) => relative(module.project.vitest.config.root, module.moduleId);
    const files = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      return {
        project: module.project.name,
        file: fileOf(module),
        seconds: (collectDuration + setupDuration + duration) / 1000,
      };
    });
    const skipped = modules.flatMap((module) => [
      ...new Set(skippedIn(module.children).map((name) => `  ${fileOf(module)}: ${name}`)),
    ]);
    const skippedLines = skipped.length > 0 ? ['', 'Skipped', ...skipped] : [];
    process.stdout.write(`\n${[timeTable(files), ...skippedLines].join('\n')}\n`);
  }
}
