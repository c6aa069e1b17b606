/** What hooks may answer. Null stands for an absent field everywhere; anything else of the wrong type fails the sync. */
import type { KubeObject, LabelSelector } from '../../api/kubernetes.ts';
import { findDuplicateKey } from './duplicateKeys.ts';
import { isJsonObject, type JsonObject } from './json.ts';

export interface SyncAnswer {
  status: JsonObject | undefined;
  /** Children of a composite, attachments of a decorator. */
  objects: KubeObject[];
  labels: Record<string, string | null>;
  annotations: Record<string, string | null>;
  /** Seconds; 0 for none. */
  resyncAfterSeconds: number;
  finalized: boolean;
}

/** As answered: `null` and absent mean the same. */
export interface RelatedRule {
  apiVersion: string;
  resource: string;
  namespace?: string | null;
  names?: string[] | null;
  labelSelector?: LabelSelector | null;
  namespaceSelector?: LabelSelector | null;
}

export class AnswerError extends Error {}

/** Checks one value; `path` says where it is. Throws AnswerError. */
type Check = (value: unknown, path: string, strict: boolean) => void;

const text = typed('string');
const number = typed('number');
const flag = typed('boolean');

function typed(type: 'string' | 'number' | 'boolean'): Check {
  return (value, path) => {
    if (typeof value !== type) throw new AnswerError(`${path}: expected a ${type}, found ${shown(value)}`);
  };
}

function listOf(check: Check): Check {
  return (value, path, strict) => {
    if (!Array.isArray(value)) throw new AnswerError(`${path}: expected a list, found ${shown(value)}`);
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`, strict);
  };
}

function mapOf(check: Check): Check {
  return (value, path, strict) => {
    if (!isJsonObject(value)) throw new AnswerError(`${path}: expected an object, found ${shown(value)}`);
    for (const [key, item] of Object.entries(value)) {
      if (item !== null) check(item, `${path}.${key}`, strict);
    }
  };
}

function fieldsOf(fields: Record<string, Check>): Check {
  return (value, path, strict) => {
    if (!isJsonObject(value)) throw new AnswerError(`${path || 'answer'}: expected an object, found ${shown(value)}`);
    for (const [key, item] of Object.entries(value)) {
      const where = path ? `${path}.${key}` : key;
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (!check && strict) throw new AnswerError(`unknown field ${JSON.stringify(where)}`);
      if (check && item !== null) check(item, where, strict);
    }
  };
}

const anything: Check = () => {};

const kubeObject: Check = (value, path) => {
  if (!isJsonObject(value)) throw new AnswerError(`${path}: expected an object, found ${shown(value)}`);
  text(value.kind, `${path}.kind`, true);
  text(value.apiVersion, `${path}.apiVersion`, true);
  const metadata = value.metadata;
  if (!isJsonObject(metadata)) throw new AnswerError(`${path}.metadata: expected an object, found ${shown(metadata)}`);
  mapOf(text)(metadata.labels ?? {}, `${path}.metadata.labels`, true);
  mapOf(text)(metadata.annotations ?? {}, `${path}.metadata.annotations`, true);
};

const selector = fieldsOf({
  matchLabels: mapOf(text),
  matchExpressions: listOf(fieldsOf({ key: text, operator: text, values: listOf(text) })),
});

const compositeAnswer = fieldsOf({
  status: mapOf(anything),
  children: listOf(kubeObject),
  resyncAfterSeconds: number,
  finalized: flag,
});

const decoratorAnswer = fieldsOf({
  labels: mapOf(text),
  annotations: mapOf(text),
  status: mapOf(anything),
  attachments: listOf(kubeObject),
  resyncAfterSeconds: number,
  finalized: flag,
});

const customizeAnswer = fieldsOf({
  relatedResources: listOf(
    fieldsOf({
      apiVersion: text,
      resource: text,
      namespace: text,
      names: listOf(text),
      labelSelector: selector,
      namespaceSelector: selector,
    }),
  ),
});

/** Throws AnswerError when the body is not such an answer; `strict` refuses unknown and duplicate fields as well. */
export function parseCompositeAnswer(body: string, strict: boolean): SyncAnswer {
  const answer = parse(body, strict, compositeAnswer);
  return syncAnswer(answer, answer.children);
}

/** Throws AnswerError, see parseCompositeAnswer. */
export function parseDecoratorAnswer(body: string, strict: boolean): SyncAnswer {
  const answer = parse(body, strict, decoratorAnswer);
  return syncAnswer(answer, answer.attachments);
}

/** Throws AnswerError, see parseCompositeAnswer. */
export function parseCustomizeAnswer(body: string, strict: boolean): RelatedRule[] {
  return (parse(body, strict, customizeAnswer).relatedResources ?? []) as RelatedRule[];
}

function parse(body: string, strict: boolean, check: Check): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    throw new AnswerError(`the answer is not JSON: ${(error as Error).message}`);
  }
  if (answer === null) return {};
  check(answer, '', strict);
  const duplicate = strict ? findDuplicateKey(body) : undefined;
  if (duplicate !== undefined) throw new AnswerError(`duplicate field ${JSON.stringify(duplicate)}`);
  return answer as JsonObject;
}

function syncAnswer(answer: JsonObject, objects: unknown): SyncAnswer {
  return {
    status: (answer.status as JsonObject | null) ?? undefined,
    objects: (objects as KubeObject[] | null) ?? [],
    labels: (answer.labels as SyncAnswer['labels'] | null) ?? {},
    annotations: (answer.annotations as SyncAnswer['annotations'] | null) ?? {},
    resyncAfterSeconds: (answer.resyncAfterSeconds as number | null) ?? 0,
    finalized: (answer.finalized as boolean | null) ?? false,
  };
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}
