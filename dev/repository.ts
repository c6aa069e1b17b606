import { join } from 'node:path';

/** The root of this clone. */
export const REPOSITORY = join(import.meta.dirname, '..');

/** The clone whose server and manifests are run: this one, unless a bench compares it with another version. */
export const PRODUCT = process.env.BENCH_PRODUCT ?? REPOSITORY;
