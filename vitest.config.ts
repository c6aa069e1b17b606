import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SlowestFiles } from './test/support/slowestFiles.ts';

/** CI's machine has two cores and is noisy. A test that needed its second try is listed as retried, and is a bug to look at. */
const retry = process.env.CI ? 1 : 0;

// For all that tests start, again and again: Node keeps what it compiled, and the API server collects its garbage less often.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');
process.env.GOGC ??= '400';

/** Those on a control plane wait most of the time: more at once than there are cores. */
const WAITING = { sequence: { groupOrder: 1 }, maxWorkers: 2 * availableParallelism() };

const OWN_CONTROL_PLANE = { retry, testTimeout: 600_000, hookTimeout: 300_000, ...WAITING };

/** The longest files begin first: those with a control plane of their own, and the attempts. The others fill the gaps. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'cluster' && !moduleId.includes('/around/') ? 1 : 0;
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowestFiles()],
    projects: [
      {
        test: {
          name: 'unit',
          retry,
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/faults/**', 'test/long/**'],
          isolate: false,
          // Vitest's default leaves one core to itself, of two.
          maxWorkers: '100%',
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // One control plane for all files, started by globalSetup; a namespace for each test.
        test: {
          name: 'cluster',
          retry,
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: ['test/cluster/support/globalSetup.ts'],
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...WAITING,
        },
      },
      // Each file has a control plane of its own, and breaks it.
      { test: { name: 'faults', include: ['test/faults/**/*.test.ts'], ...OWN_CONTROL_PLANE } },
      // `npm run test:long`.
      { test: { name: 'long', include: ['test/long/**/*.test.ts'], ...OWN_CONTROL_PLANE } },
    ],
  },
});
