/** The fields of a CRD's schema by their paths: `history[].version`. */
import { objectIn } from '../manifests/files.ts';

export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  default?: unknown;
  enum?: string[];
}

export interface Field {
  path: string;
  schema: Schema;
}

/** Texts that are written once, and not at each field. */
const SHARED: Record<string, readonly string[]> = {
  'a label selector': ['matchLabels', 'matchExpressions'],
  'a condition': ['lastTransitionTime', 'message', 'observedGeneration', 'reason', 'status', 'type'],
  'a version': ['tag', 'digest', 'version', 'revision', 'created', 'firstSeen'],
  'a deployment on an object': ['rollout', 'id', 'version', 'uid'],
};

/** `part`: `spec` or `status`. */
export function crdFields(crd: string, part: 'spec' | 'status'): Field[] {
  const [version] = objectIn(`crds/${crd}.yaml`).spec.versions;
  return fieldsBelow(version.schema.openAPIV3Schema.properties[part], '');
}

function fieldsBelow(schema: Schema, path: string): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const isListOfObjects = property.type === 'array' && property.items?.type === 'object';
    const own = `${path && `${path}.`}${name}${isListOfObjects ? '[]' : ''}`;
    const below = isListOfObjects ? property.items! : property;
    return [{ path: own, schema: below }, ...(isShared(below) ? [] : fieldsBelow(below, own))];
  });
}

function isShared({ properties }: Schema): boolean {
  const names = Object.keys(properties ?? {})
    .sort()
    .join();
  return Object.values(SHARED).some((shared) => [...shared].sort().join() === names);
}
