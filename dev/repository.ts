import { join } from 'node:path';

/** The root of this clone. */
export const REPOSITORY = join(import.meta.dirname, '..');
