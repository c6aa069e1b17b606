/** Random objects that the schemas of our CRDs admit, whoever wrote them and before which version of this software. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'yaml';
import * as annotations from '../../api/annotations.ts';
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';

interface Schema {
  type?: string;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-int-or-string'?: boolean;
}

const NAMES = ['app', 'qa'];
const TEXTS = [
  ...NAMES,
  ...[
    '',
    ' ',
    '1.0.0',
    'shop/app',
    'shop/app:1.0.0',
    'a,b',
    '\u2028',
    'x'.repeat(300),
    '10%',
    '-1',
    '1h',
    '10m',
    '-1h',
  ],
  ...['__proto__', 'constructor', 'toString', 'null', '[]', '{"given":[null],"current":5}', `sha256:${'a'.repeat(64)}`],
  ...['Ready', 'True', 'False', 'Succeeded', 'Failed', 'Deploying', 'InProgress', 'Cancelled', 'Gate', 'RolloutGate'],
  ...[
    'Monday',
    '09:00',
    '2026-02-30',
    '2026-01-01',
    'Europe/Berlin',
    'oci://registry.example/a',
    'https://a.example/b',
  ],
];
/** The API server takes any offset, and any character before a fraction. */
const TIMES = [
  ...['2026-01-01T00:00:00Z', '2025-12-31T23:59:59.5+14:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  ...['2026-01-01T00:00:00+99:99', '2026-01-01t00:00:00x5z'],
];
const KEYS = Object.values<unknown>(annotations).flatMap((key) => (typeof key === 'string' ? [key] : []));
const VALUES = [...TEXTS, ...TIMES];

/** A random value that the schema admits. Rules in CEL don't count: they may be newer than the object. */
function admittedValue(schema: Schema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string']) return fc.constantFrom<unknown>(0, 3, '0%', '10%', '100%');
  switch (schema.type) {
    case 'object':
      return recordOf(schema);
    case 'array': {
      const { minItems: minLength = 0, maxItems = 3, items = {} } = schema;
      return fc.array(admittedValue(items), { minLength, maxLength: Math.max(minLength, Math.min(maxItems, 3)) });
    }
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number': {
      const { minimum = -1, maximum = Number.MAX_SAFE_INTEGER } = schema;
      return fc.constantFrom(...[minimum, 0, 1, maximum].filter((each) => each >= minimum && each <= maximum));
    }
    default:
      return textOf(schema);
  }
}

function recordOf({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary<object> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, admittedValue(each)])),
    {
      requiredKeys: required,
    },
  );
  if (!additionalProperties) return known;
  const others = fc.dictionary(
    fc.constantFrom(...NAMES),
    admittedValue(additionalProperties === true ? {} : additionalProperties),
  );
  return fc.tuple(known, others).map(([a, b]) => ({ ...b, ...a }));
}

function textOf({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom(...TIMES);
  const matches = pattern === undefined ? /^/ : new RegExp(pattern, 'u');
  const fitting = VALUES.filter((each) => each.length >= minLength && each.length <= maxLength && matches.test(each));
  return fitting.length > 0 ? fc.constantFrom(...fitting) : fc.constant('x'.repeat(minLength));
}

/** An object of the kind, one of two names in the namespace shop. */
export function admittedObject(kind: KindName): Arbitrary<AnyObject> {
  const { group, resource } = KINDS[kind];
  const file = join(import.meta.dirname, `../../manifests/crds/${group}_${resource}.yaml`);
  const schema: Schema = parse(readFileSync(file, 'utf8')).spec.versions[0].schema.openAPIV3Schema;
  const { metadata: _, apiVersion: __, kind: ___, ...properties } = schema.properties ?? {};
  const own = {
    ...(!kind.startsWith('Cluster') && { namespace: fc.constant('shop') }),
    name: fc.constantFrom(...NAMES),
    resourceVersion: fc.nat().map(String),
  };
  const metadata = fc.record(
    {
      ...own,
      uid: fc.constantFrom('uid-1', 'uid-2'),
      creationTimestamp: fc.constantFrom(...TIMES),
      deletionTimestamp: fc.constantFrom(...TIMES),
      annotations: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)),
      labels: fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES)),
    },
    { requiredKeys: Object.keys(own) as (keyof typeof own)[] },
  );
  return fc
    .tuple(recordOf({ ...schema, properties }), metadata)
    .map(([content, meta]) => ({ ...content, kind, metadata: meta }) as unknown as AnyObject);
}
