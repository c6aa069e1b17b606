/** What the pages show can be applied as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../manifests/files.ts';
import { compileCrds, typeOf } from '../manifests/schema.ts';
import { PAGES, ROOT } from './tables.ts';

const schemas = compileCrds();
const files = ['README.md', ...PAGES.map((page) => `docs/${page}`)];
const examples = files.flatMap((file) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^apiVersion: [\s\S]*?(?=^(?:```|EOF)$)/gm)]
    .flatMap(([text]) => parseAllDocuments(text).map((document) => document.toJS() as Manifest))
    .map((object) => [`${file}: ${object.kind} ${object.metadata?.name}`, object] as const),
);

describe('examples', () => {
  it('are found', () => expect(examples.length).toBeGreaterThan(8));

  it.each(examples.filter(([, object]) => schemas.has(typeOf(object))))('%s', (_, object) => {
    const validate = schemas.get(typeOf(object))!;
    expect(validate(object), JSON.stringify(validate.errors)).toBe(true);
  });
});
