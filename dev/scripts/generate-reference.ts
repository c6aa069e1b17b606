/** docs/reference/fields.md, from manifests/crds. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { REPOSITORY } from '../repository.ts';
import { code, escaped, type Generated, table } from './generated.ts';

interface Schema {
  type?: string;
  description?: string;
  format?: string;
  pattern?: string;
  default?: unknown;
  enum?: string[];
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  'x-kubernetes-int-or-string'?: boolean;
}

interface Column {
  name: string;
  priority?: number;
  jsonPath: string;
  description?: string;
}

interface Crd {
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; additionalPrinterColumns: Column[]; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** The order of the page: what users write first, then what the hooks write. */
const KINDS = [
  'Rollout',
  'RolloutGate',
  'Gate',
  'HealthCheck',
  'MetricProvider',
  'RolloutBudget',
  'ClusterRolloutBudget',
  'RolloutSchedule',
  'ClusterRolloutSchedule',
  'FluxBinding',
];

/** Objects of several fields, documented once, and identified by the names of their fields. */
const SHARED = [
  { name: 'Label selector', fields: 'matchExpressions matchLabels' },
  { name: 'Condition', fields: 'lastTransitionTime message observedGeneration reason status type' },
  { name: 'Version', fields: 'created digest firstSeen revision tag version' },
  { name: 'Deployment', fields: 'id rollout uid version' },
];

const sharedOf = (schema: Schema) => {
  const names = Object.keys(schema.properties ?? {})
    .sort()
    .join(' ');
  return SHARED.find(({ fields }) => fields === names);
};

const anchor = (heading: string) => heading.toLowerCase().replaceAll(' ', '-');

/** The row of a field, and those of the fields below it. */
function rowsOf(name: string, schema: Schema, isRequired: boolean): string[][] {
  const isList = schema.type === 'array';
  const inner = isList ? (schema.items ?? {}) : schema;
  const path = isList && inner.type === 'object' ? `${name}[]` : name;
  const row = [code(path), typeOf(schema), meaningOf(schema, inner, isRequired)];
  return [row, ...(sharedOf(inner) ? [] : rowsBelow(inner, `${path}.`))];
}

function rowsBelow({ properties = {}, required = [] }: Schema, prefix = ''): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    rowsOf(prefix + name, schema, required.includes(name) && schema.default === undefined),
  );
}

function typeOf(schema: Schema): string {
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const shared = sharedOf(schema);
  if (shared) return `[${shared.name}](#${anchor(shared.name)})`;
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.format === 'date-time') return 'time';
  if (schema.pattern?.includes('(ms|s|m|h)')) return 'duration';
  if (schema.type === 'object' && schema.additionalProperties) return 'map';
  return schema.type ?? 'any';
}

function meaningOf(schema: Schema, inner: Schema, isRequired: boolean): string {
  const text = linked(schema.description ?? '');
  const { enum: values = [], minimum, maximum, maxLength } = inner;
  const unnamed = values.some((value) => !(schema.description ?? '').includes(value)) ? values : [];
  const facts = [
    isRequired && 'Required.',
    unnamed.length > 0 && `${unnamed.map((value) => `\`${value}\``).join(', ')}.`,
    schema.default !== undefined && schema.default !== '' && `Default: \`${JSON.stringify(schema.default)}\`.`,
    schema.maxItems !== undefined && `At most ${schema.maxItems} items.`,
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}.`,
    minimum !== undefined && minimum > 0 && maximum === undefined && `At least ${minimum}.`,
    maxLength !== undefined && !inner.enum && typeOf(inner) !== 'duration' && `At most ${maxLength} characters.`,
  ].filter(Boolean);
  return [text, ...facts].filter(Boolean).join(' ').replaceAll('`"', '`').replaceAll('"`', '`');
}

/** `docs/promotion.md#approvals` in a description becomes a link. */
function linked(text: string): string {
  const shown = escaped(text).replaceAll('{{', '{&#123;');
  return shown.replace(/docs\/([\w-]+)\.md(#[\w-]+)?/g, (_, page, hash = '') => `[${page}](../${page}.md${hash})`);
}

const FIELDS = ['field', 'type', 'meaning'];

function kindSection({ spec }: Crd): string {
  const { kind, plural } = spec.names;
  const { name, schema, additionalPrinterColumns } = spec.versions[0]!;
  const { description = '', properties = {} } = schema.openAPIV3Schema;
  const parts = ['spec', 'status'].filter((part) => properties[part]);
  const columns = additionalPrinterColumns.map(({ name: column, priority, jsonPath, description: text = '' }) => [
    `${column.toUpperCase()}${priority ? ' (`-o wide`)' : ''}`,
    code(jsonPath.replaceAll('|', '\\|')),
    escaped(text),
  ]);
  return [
    `## ${kind}`,
    `\`${spec.group}/${name}\`, ${spec.scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}. ${linked(description)}`,
    ...parts.map((part) => `### ${kind} ${part}\n\n${fieldsOf(properties[part]!, part)}`),
    `### Columns of kubectl get ${plural}\n\n${table(['column', 'shows', ''], columns)}`,
  ].join('\n\n');
}

/** The table of fields. A status has no required fields, since users don't write it. */
function fieldsOf(schema: Schema, part: string): string {
  const fields = table(FIELDS, rowsBelow(schema));
  return part === 'status' ? fields.replaceAll(' Required.', '') : fields;
}

/** The first object of each shared form that any kind has. */
function sharedSection(schemas: readonly Schema[]): string {
  const all = schemas.flatMap(objectsBelow);
  return SHARED.map(({ name }) => {
    const schema = all.find((each) => sharedOf(each)?.name === name);
    if (!schema) throw new Error(`no kind has a ${name}`);
    return `### ${name}\n\n${table(FIELDS, rowsBelow(schema))}`;
  }).join('\n\n');
}

function objectsBelow(schema: Schema): Schema[] {
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  return [schema, ...below.flatMap(objectsBelow)];
}

export async function referencePage(): Promise<Generated> {
  const folder = join(REPOSITORY, 'manifests/crds');
  const files = (await readdir(folder)).filter((name) => name.includes('_'));
  const crds = await Promise.all(files.map(async (name) => parse(await readFile(join(folder, name), 'utf8')) as Crd));
  const byKind = new Map(crds.map((crd) => [crd.spec.names.kind, crd]));
  const missing = [...byKind.keys()].filter((kind) => !KINDS.includes(kind));
  if (missing.length > 0) throw new Error(`the reference has no place for ${missing.join(', ')}`);
  const sorted = KINDS.map((kind) => byKind.get(kind)!);
  const parts = [
    ...sorted.map(kindSection),
    `## Shared types\n\n${sharedSection(sorted.map(({ spec }) => spec.versions[0]!.schema.openAPIV3Schema))}`,
  ];
  return [['docs/reference/fields.md', `${parts.join('\n\n')}\n`]];
}
