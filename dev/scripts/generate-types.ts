/**
 * Writes api/generated/*.ts from manifests/crds/*.yaml, the one source of truth: a type for each kind, and schemas.ts.
 * Then docs/reference.md by generate-reference.ts, docs/reference by generate-catalogues.ts, and docs/cli.md, by generate-cli-docs.ts. `--check` writes nothing and fails when a file is out of date.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';

const usage = `Usage: node dev/scripts/generate-types.ts [--check]

Generates api/generated/<Kind>.ts from the CRDs in manifests/crds.
Then docs/reference.md from the CRDs, docs/reference from lists in the code, and docs/cli.md from the commands.
  --check   only compare; exit 1 when a generated file is out of date
`;

const root = join(import.meta.dirname, '../..');
const crdDir = join(root, 'manifests/crds');
const outDir = join(root, 'api/generated');

interface Crd {
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: JSONSchema } }[] };
}

async function typesOf(file: string): Promise<{ path: string; text: string }> {
  const crd = parse(await readFile(join(crdDir, file), 'utf8')) as Crd;
  const { kind } = crd.spec.names;
  const schema = structuredClone(crd.spec.versions[0]?.schema.openAPIV3Schema) as JSONSchema;
  closeObjects(schema);
  const properties = schema.properties as Record<string, JSONSchema>;
  schema.required = ['apiVersion', 'kind', 'metadata', ...((schema.required as string[]) || [])];
  properties.metadata = { tsType: 'ObjectMeta' };
  const text = await compile(schema, kind, {
    additionalProperties: false,
    bannerComment: `/* Generated from manifests/crds/${basename(file)} by dev/scripts/generate-types.ts. Do not edit. */\n\nimport type { ObjectMeta } from '../kubernetes.ts';`,
    style: { singleQuote: true, printWidth: 120 },
    enableConstEnums: false,
  });
  return { path: join(outDir, `${kind}.ts`), text };
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

/** What an object of each kind looks like, without the texts. */
async function schemasOf(files: string[]): Promise<{ path: string; text: string }> {
  const schemas: Record<string, unknown> = {};
  for (const file of files) {
    const crd = parse(await readFile(join(crdDir, file), 'utf8')) as Crd;
    const schema = structuredClone(crd.spec.versions[0]?.schema.openAPIV3Schema) as JSONSchema;
    const { type, properties, required = [] } = schema;
    schemas[crd.spec.names.kind] = { type, required, properties: shapeOf(properties) };
  }
  const banner = '/* Generated from manifests/crds by dev/scripts/generate-types.ts. Do not edit. */';
  const text = `${banner}\n\nexport const SCHEMAS: Record<string, object> = ${JSON.stringify(schemas, undefined, 1)};\n`;
  return { path: join(outDir, 'schemas.ts'), text };
}

const SHAPE = ['type', 'properties', 'additionalProperties', 'items', 'nullable', 'required'];

/** The part of a schema that says which JSON goes where; what a value may be is for the API server to judge. */
function shapeOf(schema: unknown, isMap = true): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const entries = Object.entries(schema).filter(([key]) => isMap || SHAPE.includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, shapeOf(value, !isMap && key === 'properties')]));
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const check = args.includes('--check');
const files = (await readdir(crdDir)).filter((file) => file.includes('_') && file.endsWith('.yaml'));
await mkdir(outDir, { recursive: true });
let stale = 0;
for (const { path, text } of [...(await Promise.all(files.map(typesOf))), await schemasOf(files)]) {
  const current = await readFile(path, 'utf8').catch(() => '');
  if (current === text) continue;
  stale++;
  if (check) console.error(`${path} is out of date: run npm run generate`);
  else await writeFile(path, text);
}
if (check && stale > 0) process.exit(1);
await import('./generate-reference.ts');
await import('./generate-catalogues.ts');
await import('./generate-cli-docs.ts');
