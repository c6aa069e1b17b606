/** api/generated/*.ts from manifests/crds/*.yaml, the one source of truth: a type for each kind, and schemas.ts. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';
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
  return [...types, ['api/generated/schemas.ts', schemasOf(crds.map(([, crd]) => crd))]];
}
