/**
 * The shape in which the API server stores objects. The API server guarantees it, so it is not checked before a
 * decision, but only after an exception: to distinguish a bad request from a bug of ours.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { SCHEMAS } from '../../api/generated/schemas.ts';

const text = { type: 'string' };
const texts = { type: 'object', additionalProperties: text };
const listOf = (properties: object, required: string[] = []) => ({
  type: 'array',
  items: { type: 'object', properties, required },
});

const METADATA = {
  type: 'object',
  properties: {
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: { ...text, nullable: true },
    deletionTimestamp: text,
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: text },
    ownerReferences: listOf({ apiVersion: text, kind: text, name: text, uid: text }),
    managedFields: listOf({ manager: text, operation: text, subresource: text, fieldsV1: { type: 'object' } }),
  },
};

/** The schema of other projects' kinds: the fields that we read. */
const FLUX = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        suspend: { type: 'boolean' },
        sourceRef: { type: 'object', properties: { apiVersion: text, kind: text, name: text, namespace: text } },
        postBuild: { type: 'object', properties: { substitute: texts } },
        ref: { type: 'object', additionalProperties: text },
        imageRepositoryRef: { type: 'object', properties: { name: text, namespace: text } },
        policy: { type: 'object', additionalProperties: { type: 'object', additionalProperties: text } },
        filterTags: { type: 'object', additionalProperties: text },
      },
    },
    status: {
      type: 'object',
      properties: {
        observedGeneration: { type: 'integer' },
        conditions: listOf({ type: text, status: text, reason: text, message: text, lastTransitionTime: text }),
        artifact: { type: 'object', properties: { revision: text, digest: text } },
        lastAppliedRevision: text,
        lastAttemptedRevision: text,
        inventory: { type: 'object', properties: { entries: listOf({ id: text, v: text }, ['id', 'v']) } },
        latestRef: { type: 'object', additionalProperties: text },
        latestImage: text,
      },
    },
  },
};

const ajv = new Ajv({ strict: false });
const compiled = new Map<string, ValidateFunction>();

/**
 * A sentence that names the field with the wrong shape; undefined if there is none.
 * @param where the object's place in the request
 */
export function shapeProblem(object: unknown, where: string): string | undefined {
  const kind = (object as { kind?: unknown } | null)?.kind;
  const own = typeof kind === 'string' && Object.hasOwn(SCHEMAS, kind) ? kind : '';
  const validate = compiled.get(own) ?? ajv.compile(schemaOf(SCHEMAS[own] ?? FLUX));
  compiled.set(own, validate);
  if (validate(object)) return undefined;
  const [error] = validate.errors ?? [];
  return `${where}${error?.instancePath ?? ''} ${error?.message}`;
}

/** The problem of a map of kinds, each with a map of objects, as Metacontroller sends them. */
export function mapProblem(map: unknown, where: string): string | undefined {
  for (const [kind, objects] of Object.entries((map ?? {}) as Record<string, unknown>)) {
    if (typeof objects !== 'object' || objects === null) return `${where}/${kind} must be object`;
    for (const [name, object] of Object.entries(objects)) {
      const problem = shapeProblem(object, `${where}/${kind}/${name}`);
      if (problem) return problem;
    }
  }
  return undefined;
}

function schemaOf(schema: { properties?: object; required?: string[] }) {
  const properties = { ...schema.properties, apiVersion: text, kind: text, metadata: METADATA };
  return { type: 'object', required: ['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])], properties };
}
