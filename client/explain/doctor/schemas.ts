/** The CRDs of the cluster against those that this version was made for: a field that is missing is dropped from every write, silently. */
import { SCHEMAS } from '../../../api/generated/schemas.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { type Finding, problem } from './finding.ts';

export interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** `crd`: `kuberik.com_rollouts`, as its file is called. */
export function schemaFindings(kind: string, crd: string, served: Schema): Finding[] {
  const known = SCHEMAS[kind] as Schema | undefined;
  if (!known) return [];
  const [ours, theirs] = [fieldsOf(known), fieldsOf(served)];
  const older = [...ours].filter((field) => !theirs.has(field));
  const newer = [...theirs].filter((field) => !ours.has(field));
  return [
    ...(older.length > 0
      ? [
          problem(
            'Kinds',
            `The CRD of ${kind} is older than this command: it does not have ${few(older, 3)}`,
            'apply the CRD of the version that is installed, or use a command as old as it',
            `kubectl apply --server-side -f manifests/crds/${crd}.yaml`,
          ),
        ]
      : []),
    ...(newer.length > 0
      ? [
          problem(
            'Kinds',
            `The CRD of ${kind} is newer than this command, which does not know ${few(newer, 3)}`,
            'install the command of that version',
          ),
        ]
      : []),
  ];
}

/** `spec.gates[].name`, of spec and status. */
function fieldsOf(schema: Schema): Set<string> {
  const found = new Set<string>();
  const walk = ({ properties = {}, items }: Schema, path: string) => {
    for (const [name, below] of Object.entries(properties)) {
      const here = path === '' ? name : `${path}.${name}`;
      if (path === '' && name !== 'spec' && name !== 'status') continue;
      found.add(here);
      walk(below, here);
    }
    if (items) walk(items, `${path}[]`);
  };
  walk(schema, '');
  return found;
}
