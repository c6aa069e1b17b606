import { defineConfig } from 'vitest/config';

/** CI's machine has two cores and is noisy. A test that needed its second try is listed as retried, and is a bug to look at. */
const retry = process.env.CI ? 1 : 0;

// biome-ignore lint/style/noDefaultExport: Vitest reads the default export.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          retry,
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/faults/**'],
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
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Each file has a control plane of its own and breaks it: one after the other, when the machine is quiet.
        test: {
          name: 'faults',
          retry,
          include: ['test/faults/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
