import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SlowestFiles } from './test/support/slowestFiles.ts';

// For all that tests start, again and again: Node keeps what it compiled, and the API server collects its garbage less
// often.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');
process.env.GOGC ??= '400';

const cores = availableParallelism();
/** Those with a control plane wait for it: more at once than there are cores. */
const maxWorkers = 2 * cores;

/** Only tests that hang take as long: no test fails because the machine is busy. */
const PATIENT = { testTimeout: 300_000, hookTimeout: 300_000 };
const OWN_CONTROL_PLANE = { maxWorkers, testTimeout: 600_000, hookTimeout: 300_000 };

/**
 * The longest first; the quick ones fill the gaps at the end. In a project, Vitest begins with those that took longest
 * the last time.
 */
const ORDER = ['long', 'faults', 'cluster', 'unit'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => ORDER.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
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
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/faults/**', 'test/long/**'],
          isolate: false,
          // Alone at the end: each worker compiles everything for itself.
          maxWorkers: cores,
          sequence: { groupOrder: 1 },
          ...PATIENT,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        // One control plane for all files, started by globalSetup; a namespace for each test.
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: ['test/cluster/support/globalSetup.ts'],
          isolate: false,
          maxWorkers,
          ...PATIENT,
        },
      },
      // Another control plane, which they break.
      { test: { name: 'faults', include: ['test/faults/faults.test.ts'], ...OWN_CONTROL_PLANE } },
      // `npm run test:long`: each file has a control plane of its own.
      { test: { name: 'long', include: ['test/long/**/*.test.ts'], ...OWN_CONTROL_PLANE } },
    ],
  },
});
