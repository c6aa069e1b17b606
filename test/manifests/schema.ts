/** A CRD's schema for ajv: with defaults, and with errors for unknown fields as in strict field validation. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { type Manifest, objectsBelow } from './files.ts';

const addFormats = addFormatsModule.default;

export function compileCrds(): Map<string, ValidateFunction> {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    allErrors: true,
    useDefaults: true,
    formats: { int32: true, int64: true },
  });
  addFormats(ajv, ['date-time']);
  for (const keyword of [
    'map-type',
    'list-type',
    'list-map-keys',
    'validations',
    'preserve-unknown-fields',
    'int-or-string',
  ]) {
    ajv.addKeyword(`x-kubernetes-${keyword}`);
  }
  const compiled = new Map<string, ValidateFunction>();
  for (const crd of objectsBelow('crds')) {
    for (const { name, schema } of crd.spec.versions) {
      const closed = close(structuredClone(schema.openAPIV3Schema));
      closed.properties.metadata = { type: 'object' };
      compiled.set(`${crd.spec.group}/${name} ${crd.spec.names.kind}`, ajv.compile(closed));
    }
  }
  return compiled;
}

export const typeOf = (object: Manifest): string => `${object.apiVersion} ${object.kind}`;

function close(schema: any): any {
  if (schema.properties) {
    schema.additionalProperties = false;
    for (const property of Object.values(schema.properties)) close(property);
  }
  if (schema.items) close(schema.items);
  return schema;
}
