/** Parses the requests that the page posts. Anything else is refused: the server is not a proxy. */

import type { ActionRequest, ActionType } from '../client/actions/action.ts';
import { ACTIONS } from '../client/actions/table.ts';
import { type FreezeRequest, SELECTABLE_KINDS } from '../client/actions/writes/freeze.ts';
import type { AdoptRequest } from '../client/board/adoptViews.ts';
import { isImage } from '../core/budget/continueRequest.ts';
import { DAYS } from '../core/calendar/calendarRules.ts';
import { isObjectName } from '../core/kube/names.ts';
import { isLegalTag } from '../core/kube/tag.ts';
import { LIMITS } from '../core/limits.ts';
import { isVariable } from '../core/managedField/managedFields.ts';

type Fields = Record<string, unknown>;

/** The posted action; undefined for any other value. */
export function actionRequestOf(value: unknown): ActionRequest | undefined {
  if (!isRecord(value) || typeof value.type !== 'string' || !Object.hasOwn(ACTIONS, value.type)) return undefined;
  const type = value.type as ActionType;
  const { kinds, takes = [] } = ACTIONS[type];
  const object = objectOf(value.object, kinds);
  const given = {
    version: isTag(value.version) ? value.version : undefined,
    image: isText(value.image) && isImage(value.image) ? value.image : undefined,
    rollout: refOf(value.rollout),
    gate: refOf(value.gate),
    freeze: isFreeze(value.freeze) ? value.freeze : undefined,
    reason: isReason(value.reason) ? value.reason : undefined,
  };
  const isWrong = Object.entries(given).some(([key, each]) => value[key] !== undefined && each === undefined);
  if (!object || isWrong || takes.some((key) => given[key] === undefined)) return undefined;
  const known = Object.entries(given).filter(([, each]) => each !== undefined);
  return { type, object, ...Object.fromEntries(known) };
}

/** Whether the value is a freeze of the form, which selects one namespace or all. The API server validates the Gate. */
function isFreeze(value: unknown): value is FreezeRequest {
  const isSelection: Check = (each) =>
    hasFields(
      each,
      { kinds: isListOf(SELECTABLE_KINDS) },
      { namespaceSelector: (selector) => hasFields(selector, {}) },
    );
  const isCalendar: Check = (each) =>
    hasFields(
      each,
      { days: isListOf(DAYS), timezone: isText },
      { hours: (hours) => hasFields(hours, { start: isText, end: isText }) },
    );
  return hasFields(
    value,
    { selects: isSelection },
    { every: isCalendar, at: Number.isSafeInteger, lasts: Number.isSafeInteger },
  );
}

type Check = (value: unknown) => boolean;

const isText = (value: unknown): value is string => typeof value === 'string';
const isTag = (value: unknown) => isText(value) && isLegalTag(value);
const isVariableName = (value: unknown) => isText(value) && isVariable(value);
const isListOf =
  (values: readonly string[]): Check =>
  (list) =>
    Array.isArray(list) && list.length > 0 && list.every((each) => values.includes(each));

/** Whether the value is a record of these fields, and no others. */
function hasFields(value: unknown, required: Record<string, Check>, optional: Record<string, Check> = {}): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).every((key) => Object.hasOwn(required, key) || Object.hasOwn(optional, key)) &&
    Object.entries(required).every(([key, isValid]) => isValid(value[key])) &&
    Object.entries(optional).every(([key, isValid]) => value[key] === undefined || isValid(value[key]))
  );
}

function objectOf<Kind extends string>(value: unknown, kinds: readonly Kind[]) {
  if (!isRecord(value)) return undefined;
  const kind = kinds.find((each) => each === value.kind);
  const ref =
    value.namespace === '' && kind?.startsWith('Cluster') ? { namespace: '', name: value.name } : refOf(value);
  return kind && ref && isName(ref.name) ? { kind, namespace: ref.namespace, name: ref.name } : undefined;
}

/** The posted request to adopt an object; undefined for any other value. */
export function adoptRequestOf(value: unknown): AdoptRequest | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, choices } = value;
  const ref = refOf(value);
  const isRight = hasFields(choices, {}, { policy: isName, variable: isVariableName, rollout: isName, runs: isTag });
  if ((kind !== 'Kustomization' && kind !== 'OCIRepository') || !ref || !isRight) return undefined;
  return { kind, ...ref, choices: choices as AdoptRequest['choices'] };
}

function refOf(value: unknown): { namespace: string; name: string } | undefined {
  if (!isRecord(value)) return undefined;
  const { namespace, name } = value;
  return isName(namespace) && isName(name) ? { namespace, name } : undefined;
}

function isName(value: unknown): value is string {
  return isText(value) && isObjectName(value);
}

function isReason(value: unknown): value is string {
  return isText(value) && value.length <= LIMITS.gateReason;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
