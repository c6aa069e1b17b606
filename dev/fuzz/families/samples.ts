/** Valid requests for each route, which dev/fuzz/families/mangled.ts damages. Their objects are in samples.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SCHEMAS } from '../../../api/generated/schemas.ts';
import { apiVersionOf, KINDS, type KindName } from '../../../api/kinds.ts';
import { jobNameOf } from '../../../core/health/job/checkJob.ts';
import { decorating } from '../../fakes/requests.ts';
import { type AnyObject, reviewOf } from './routes.ts';

interface Sample {
  /** JSON. */
  request: string;
  stored: AnyObject[];
}

interface Described extends Record<string, any> {
  kind: string;
  name: string;
  isFull?: boolean;
  /** Whether the cluster lacks the object. */
  isUnstored?: boolean;
}

const DATA: {
  at: string;
  values: Record<string, unknown>;
  objects: Described[];
  subjects: Record<string, string[]>;
} = parse(readFileSync(join(import.meta.dirname, 'samples.yaml'), 'utf8'));
const { at: AT, values: VALUES } = DATA;
const IS_TIME = /(At|Time|Since|since|time|timestamp|Timestamp|Until|until|created|firstSeen|nextTransition)$/;

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** A value with every field of the schema. */
function filled(schema: Schema, field: string): unknown {
  const { type, properties, items, additionalProperties } = schema;
  if (Object.hasOwn(VALUES, field)) return VALUES[field];
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, filled(each, name)]));
  }
  if (items) return [filled(items, '')];
  if (type === 'object') return typeof additionalProperties === 'object' ? { a: filled(additionalProperties, '') } : {};
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return 1;
  return IS_TIME.test(field) ? AT : 'a';
}

const withoutNulls = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** `spec` or `status` of a kind, with every field that the schema has. */
const full = (kind: string, part: 'spec' | 'status'): Record<string, any> | undefined => {
  const schema = (SCHEMAS[kind] as Schema).properties![part];
  return schema && (filled(schema, '') as object);
};

function made({
  kind,
  name,
  isFull,
  isUnstored: _,
  labels,
  annotations,
  metadata,
  ...described
}: Described): AnyObject {
  const { apiVersion = apiVersionOf(KINDS[kind as KindName]), ...fields } = described;
  const parts = (['spec', 'status'] as const).flatMap((part) => {
    const all = isFull ? full(kind, part) : undefined;
    return all || fields[part] ? [[part, withoutNulls({ ...all, ...fields[part] })]] : [];
  });
  const known = {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: '7',
    creationTimestamp: AT,
  };
  return {
    apiVersion,
    kind,
    metadata: withoutNulls({ ...known, ...(labels && { labels }), ...(annotations && { annotations }), ...metadata }),
    ...fields,
    ...Object.fromEntries(parts),
  };
}

const ALL = new Map(DATA.objects.map((each) => [`${each.kind} ${each.name}`, made(each)]));
const objectOf = (id: string): AnyObject => ALL.get(id)!;
const STORED = DATA.objects
  .filter(({ isUnstored }) => !isUnstored)
  .map(({ kind, name }) => objectOf(`${kind} ${name}`));

/** An entry of a history. The newest is baking and not applied yet; the one before has every field. */
const deployment = (tag: string, id: number) => ({
  ...(id === 1 && full('Rollout', 'status')!.history[0]),
  timestamp: AT,
  message: 'Automatic deployment',
  bakeStartTime: AT,
  id,
  version: { tag, digest: 'sha256:1', version: tag, revision: 'abc', created: AT },
  bakeStatus: id === 2 ? 'InProgress' : 'Failed',
});
const rollout = objectOf('Rollout app');
rollout.status.history = [deployment('1.0.0', 2), deployment('0.9.0', 1)];
objectOf('Rollout staging').status.history = [deployment('1.1.0', 1)];

const [slot] = full('RolloutBudget', 'status')!.slots;
const slots = [
  { ...slot, request: 1, uid: 'uid-app', state: 'Granted' },
  { ...slot, request: 2, uid: 'gone', state: 'Baking' },
];
for (const kind of ['RolloutBudget', 'ClusterRolloutBudget']) objectOf(`${kind} fleet`).status.slots = slots;

const job = objectOf('Job smoke-app-2');
job.metadata.name = jobNameOf({
  check: objectOf('HealthCheck smoke') as never,
  template: VALUES.template as never,
  rollout: rollout as never,
  head: rollout.status.history[0],
});
job.metadata.uid = `uid-${job.metadata.name}`;

/** A request for either kind of controller. */
function hookBody(about: AnyObject): object {
  const owned = [objectOf('FluxBinding kustomization-web'), objectOf('RolloutGate qa')];
  const attachments = [...owned, ...(about.kind === 'HealthCheck' ? [job] : [])];
  const request = decorating(about, { attachments, related: STORED });
  return { ...request, parent: about, children: request.attachments };
}

const known = new Map<string, Sample[]>();

export function sampleBodies(path: string): Sample[] {
  const found = known.get(path) ?? make(path);
  known.set(path, found);
  return found;
}

function make(path: string): Sample[] {
  const [, endpoint, first, second = ''] = path.split('/');
  const name = endpoint === 'hooks' ? first! : second;
  const subjects = DATA.subjects[name]?.map(objectOf);
  if (!subjects) throw new Error(`no sample for ${path}: add one to dev/fuzz/families/samples.yaml`);
  const requests = subjects.flatMap((about) =>
    endpoint === 'hooks' ? [hookBody(about)] : reviews(about, name === 'rollout-status'),
  );
  return requests.map((request) => ({ request: JSON.stringify(request), stored: STORED }));
}

function reviews(about: AnyObject, ofStatus: boolean): object[] {
  const subResource = ofStatus ? { subResource: 'status' } : {};
  const changed = {
    ...about,
    spec: { ...about.spec, interval: '5m', gates: undefined },
    metadata: {
      ...about.metadata,
      annotations: { ...about.metadata.annotations, 'gate.fluxcd.io/bypass-reason': 'INC-2' },
    },
  };
  const options = { fieldManager: 'kustomize-controller' };
  const update = (user: string, more = {}) =>
    reviewOf(user, { object: changed, oldObject: about, options, ...subResource, ...more });
  if (ofStatus) return [update('developer')];
  return [
    update('developer'),
    update('admin'),
    update('system:serviceaccount:metacontroller:metacontroller'),
    reviewOf('developer', { object: about }),
    reviewOf('developer', { oldObject: about }),
    reviewOf('admin', { oldObject: about }),
    update('developer', { operation: 'CONNECT' }),
  ];
}
