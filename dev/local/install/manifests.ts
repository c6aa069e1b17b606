/** Reads Kubernetes objects from folders of YAML. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { AnyObject } from '../../client/send.ts';

/**
 * All objects of the folder's own YAML files, in order of file names. Kustomize's files and empty documents are left
 * out.
 */
export function readManifests(folder: string): AnyObject[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .sort()
    .flatMap((file) => parseManifests(readFileSync(join(folder, file), 'utf8')));
}

/** Objects of a text with one or more YAML documents. Merge keys (`<<`) are followed. */
export function parseManifests(text: string): AnyObject[] {
  return parseAllDocuments(text, { merge: true })
    .map((document) => document.toJS() as AnyObject | null)
    .filter((object) => object !== null)
    .filter((object) => !object.apiVersion?.startsWith('kustomize.config.k8s.io/'));
}
