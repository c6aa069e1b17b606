/** The manifests as files and as objects. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');
export const MANIFESTS = join(ROOT, 'manifests');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [key: string]: unknown };
  [key: string]: any;
}

/** Paths of all files below, relative to manifests/. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(MANIFESTS, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(MANIFESTS, join(entry.parentPath, entry.name)))
    .sort();
}

export function textOf(file: string): string {
  return readFileSync(join(MANIFESTS, file), 'utf8');
}

export function objectsIn(file: string): Manifest[] {
  return parseAllDocuments(textOf(file), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    return document.toJS() as Manifest;
  });
}

export function objectIn(file: string): Manifest {
  const [object] = objectsIn(file);
  if (!object) throw new Error(`${file} is empty`);
  return object;
}

/** All objects of a folder, without kustomize's files. */
export function objectsBelow(folder: string): Manifest[] {
  return filesBelow(folder)
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
    .flatMap(objectsIn);
}

export function kustomizations(): { folder: string; resources: string[]; components: string[]; patches: string[] }[] {
  return filesBelow('.')
    .filter((file) => /(^|\/)(kustomization\.yaml|Kustomization)$/.test(file))
    .map((file) => {
      const { resources = [], components = [], patches = [] } = objectIn(file);
      return {
        folder: dirname(file),
        resources,
        components,
        patches: patches.flatMap(({ path }: { path?: string }) => path ?? []),
      };
    });
}
