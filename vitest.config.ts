import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** CI's machine has two cores and is noisy. A test that needed its second try is listed as retried, and is a bug to look at. */
const retry = process.env.CI ? 1 : 0;

// For all that tests start, again and again: Node keeps what it compiled, and the API server collects its garbage less often.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');
process.env.GOGC ??= '400';

/** Those that wait longest begin first, and what only computes fills the gaps. */
const ORDER = ['faults', 'cluster', 'unit'];
const rank = ({ project }: TestSpecification) => ORDER.indexOf(project.name);

class LongestWaitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(files);
    return longestFirst.sort((a, b) => rank(a) - rank(b));
  }
}

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig({
  test: {
    // More than there are cores, for most of them wait. All projects run together: they share nothing.
    maxWorkers: 6,
    sequence: { sequencer: LongestWaitFirst },
    projects: [
      {
        test: {
          name: 'unit',
          retry,
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/faults/**'],
          isolate: false,
          maxWorkers: 6,
          testTimeout: 30_000,
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
          maxWorkers: 6,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Each file has a control plane of its own, and breaks it.
        test: {
          name: 'faults',
          retry,
          include: ['test/faults/**/*.test.ts'],
          maxWorkers: 6,
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
