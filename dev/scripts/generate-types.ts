/**
 * api/generated/*.ts from the manifests, the one source of truth: a type for each kind, schemas.ts, and the names of
 * installed objects.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse, parseAllDocuments } from 'yaml';
import { REPOSITORY } from '../repository.ts';
import type { Generated } from './generated.ts';

const CRDS = join(REPOSITORY, 'manifests/crds');

interface Crd {
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: JSONSchema } }[] };
}

async function typesOf(file: string, kind: string, crdSchema: JSONSchema): Promise<string> {
  const schema = structuredClone(crdSchema);
  closeObjects(schema);
  const properties = schema.properties as Record<string, JSONSchema>;
  schema.required = ['apiVersion', 'kind', 'metadata', ...((schema.required as string[]) || [])];
  properties.metadata = { tsType: 'ObjectMeta' };
  return compile(schema, kind, {
    additionalProperties: false,
    bannerComment: `/* Generated from manifests/crds/${file} by dev/scripts/generate-types.ts. Do not edit. */\n\nimport type { ObjectMeta } from '../kubernetes.ts';`,
    style: { singleQuote: true, printWidth: 120 },
    enableConstEnums: false,
  });
}

/** OpenAPI objects with properties are closed (the API server prunes); vendor extensions mean nothing to TypeScript. */
function closeObjects(schema: unknown): void {
  if (Array.isArray(schema)) {
    schema.forEach(closeObjects);
    return;
  }
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Record<string, unknown>;
  for (const key of Object.keys(node)) if (key.startsWith('x-kubernetes-')) delete node[key];
  delete node.maxItems; // would become tuple types
  delete node.minItems;
  Object.values(node).forEach(closeObjects);
}

/** The schema of each kind, without descriptions. */
function schemasOf(crds: readonly Crd[]): string {
  const schemas = crds.map(({ spec }) => {
    const { type, properties, required = [] } = spec.versions[0]!.schema.openAPIV3Schema;
    return [spec.names.kind, { type, required, properties: shapeOf(properties) }];
  });
  const banner = '/* Generated from manifests/crds by dev/scripts/generate-types.ts. Do not edit. */';
  const text = JSON.stringify(Object.fromEntries(schemas), undefined, 1);
  return `${banner}\n\nexport const SCHEMAS: Record<string, object> = ${text};\n`;
}

const SHAPE = ['type', 'properties', 'additionalProperties', 'items', 'nullable', 'required'];

/** The structure in a schema. Only the API server checks values. */
function shapeOf(schema: unknown, isMap = true): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const entries = Object.entries(schema).filter(([key]) => isMap || SHAPE.includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, shapeOf(value, !isMap && key === 'properties')]));
}

/** Controllers for components of Flux that an installation may lack. */
const OPTIONAL = /-(helm|image-automation)$/;

/** The names of the controllers and webhooks of every installation, by resource. */
async function installedNames(): Promise<string> {
  const read = (path: string) => readFile(join(REPOSITORY, 'manifests', path), 'utf8');
  const files = (await readdir(join(REPOSITORY, 'manifests/controllers'))).filter((file) => file.endsWith('.yaml'));
  const documents = await Promise.all(files.map(async (file) => parseAllDocuments(await read(`controllers/${file}`))));
  const controllers = documents
    .flat()
    .map((document) => document.toJS() as { kind: string; metadata?: { name: string } })
    .flatMap(({ kind, metadata }) => (metadata && !OPTIONAL.test(metadata.name) ? { kind, name: metadata.name } : []));
  const webhooks = ['mutating', 'validating'].map(async (type) => {
    const found = (parse(await read(`webhooks/${type}.yaml`)) as { webhooks: { name: string }[] }).webhooks;
    return [`${type}webhookconfigurations`, found.map(({ name }) => name.split('.')[0])];
  });
  const named = (kind: string) => controllers.flatMap((each) => (each.kind === kind ? each.name : []));
  const names = {
    CONTROLLERS: {
      compositecontrollers: named('CompositeController'),
      decoratorcontrollers: named('DecoratorController'),
    },
    WEBHOOKS: Object.fromEntries(await Promise.all(webhooks)),
  };
  const texts = Object.entries(names).map(
    ([name, lists]) =>
      `export const ${name}: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(lists, undefined, 1)};\n`,
  );
  const banner = '/* Generated from manifests by dev/scripts/generate-types.ts. Do not edit. */';
  return [`${banner}\n`, ...texts].join('\n');
}

export async function typeFiles(): Promise<Generated> {
  const files = (await readdir(CRDS)).filter((file) => file.includes('_') && file.endsWith('.yaml'));
  const crds = await Promise.all(
    files.map(async (file) => [file, parse(await readFile(join(CRDS, file), 'utf8')) as Crd] as const),
  );
  const types = await Promise.all(
    crds.map(async ([file, { spec }]) => {
      const schema = spec.versions[0]!.schema.openAPIV3Schema;
      return [`api/generated/${spec.names.kind}.ts`, await typesOf(file, spec.names.kind, schema)] as const;
    }),
  );
  return [
    ...types,
    ['api/generated/schemas.ts', schemasOf(crds.map(([, crd]) => crd))],
    ['api/generated/installed.ts', await installedNames()],
  ];
}
