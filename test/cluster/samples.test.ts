/** The samples of the Go controller's README and of Flux's documentation are accepted with strict field validation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type AnyObject, sharedCluster } from './support/cluster.ts';
import { createStrictly } from './support/examples.ts';

const { admin, newNamespace } = sharedCluster();

function samples(file: string, namespace: string): AnyObject[] {
  const text = readFileSync(join(import.meta.dirname, '../scenario/samples', file), 'utf8');
  return parseAllDocuments(text).map((document) => {
    const object = document.toJS() as AnyObject;
    return { ...object, metadata: { ...object.metadata, namespace } };
  });
}

describe('the samples', () => {
  it.each(['as-written.yaml', 'flux.yaml'])('%s apply without an unknown field', async (file) => {
    const ns = await newNamespace();
    for (const object of samples(file, ns)) {
      const { object: stored } = await createStrictly(admin, object);
      expect(stored.spec).toMatchObject(object.spec);
    }
  });
});
