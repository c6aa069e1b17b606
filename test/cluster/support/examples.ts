/** Applies examples of manifests/examples as a user does: strictly, and in namespaces of the test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { pathOf } from '../../../dev/client/resources.ts';
import { send } from '../../../dev/client/send.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import type { AnyObject, User } from './cluster.ts';

/** @param names replacements in the text, longest first */
export function exampleObjects(file: string, names: Readonly<Record<string, string>> = {}): AnyObject[] {
  const text = readFileSync(join(REPOSITORY, 'manifests/examples', file), 'utf8');
  const named = Object.entries(names).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  return parseAllDocuments(named).map((document) => document.toJS() as AnyObject);
}

/** With kubectl's default: unknown and duplicate fields are errors. */
export async function createStrictly({ access }: User, object: AnyObject) {
  const path = await pathOf(access, { ...object, metadata: { namespace: object.metadata.namespace } });
  return send(access, 'POST', path, { body: object, query: { fieldValidation: 'Strict' } });
}

/** In the order of the file. */
export async function applyExample(user: User, file: string, names?: Readonly<Record<string, string>>): Promise<void> {
  for (const object of exampleObjects(file, names)) await createStrictly(user, object);
}
