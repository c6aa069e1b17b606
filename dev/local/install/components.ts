/** The components of manifests/components that are on here, as kustomize would build them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AnyObject } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { readManifests } from './manifests.ts';

const folderOf = (component: string) => join(REPOSITORY, 'manifests/components', component);

interface ComponentPatch {
  target: { group?: string; kind?: string; name?: string };
  /** A JSON patch, as YAML. */
  patch: string;
}

/** The objects that the component brings. */
export function componentObjects(component: string): AnyObject[] {
  return readManifests(folderOf(component));
}

/** The objects with the component's JSON patches. */
export function withComponent(component: string, objects: readonly AnyObject[]): AnyObject[] {
  const { patches = [] }: { patches?: ComponentPatch[] } = parse(
    readFileSync(join(folderOf(component), 'kustomization.yaml'), 'utf8'),
  );
  return objects.map((object) => {
    const built = structuredClone(object);
    for (const { target, patch } of patches) {
      if (isTarget(target, object)) for (const operation of parse(patch)) appendTo(built, operation);
    }
    return built;
  });
}

function isTarget({ group, kind, name }: ComponentPatch['target'], { apiVersion = '', ...object }: AnyObject): boolean {
  if (group !== undefined && !apiVersion.startsWith(`${group}/`)) return false;
  return (kind === undefined || kind === object.kind) && (name === undefined || name === object.metadata?.name);
}

/** Of JSON patches what the components need: `add` to the end of a list. */
function appendTo(object: AnyObject, { op, path, value }: { op: string; path: string; value: unknown }): void {
  const keys = path.split('/').slice(1);
  const list = keys.slice(0, -1).reduce<any>((at, key) => at?.[key], object);
  if (op !== 'add' || keys.at(-1) !== '-' || !Array.isArray(list)) throw new Error(`not followed here: ${op} ${path}`);
  list.push(value);
}
