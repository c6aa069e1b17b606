/** Parses the requests that the page posts. Anything else is refused: the server is not a proxy. */
import { Ajv } from 'ajv';
import type { ActionRequest } from '../client/actions/action.ts';
import { ACTIONS } from '../client/actions/table.ts';
import { SELECTABLE_KINDS } from '../client/actions/writes/freeze.ts';
import type { AdoptRequest } from '../client/board/adoptViews.ts';
import { isImage } from '../core/budget/continueRequest.ts';
import { DAYS } from '../core/calendar/calendarRules.ts';
import { isObjectName } from '../core/kube/names.ts';
import { isLegalTag } from '../core/kube/tag.ts';
import { LIMITS } from '../core/limits.ts';
import { isVariable } from '../core/managedField/managedFields.ts';

const ajv = new Ajv({ formats: { name: isObjectName, tag: isLegalTag, image: isImage, variable: isVariable } });

/** A record of these fields, and no others. */
const record = (required: object, optional: object = {}) => ({
  type: 'object',
  properties: { ...optional, ...required },
  required: Object.keys(required),
  additionalProperties: false,
});
const listOf = (values: readonly string[]) => ({ type: 'array', minItems: 1, items: { enum: values } });

const TEXT = { type: 'string' };
const NAME = { type: 'string', format: 'name' };
const TAG = { type: 'string', format: 'tag' };
const REF = record({ namespace: NAME, name: NAME });
const MILLISECONDS = { type: 'integer', minimum: 0, maximum: 1e15 };

/** A freeze of the form, which selects one namespace or all. The API server validates the Gate. */
const FREEZE = record(
  { selects: record({ kinds: listOf(SELECTABLE_KINDS) }, { namespaceSelector: record({}) }) },
  {
    every: record({ days: listOf(DAYS), timezone: TEXT }, { hours: record({ start: TEXT, end: TEXT }) }),
    at: MILLISECONDS,
    lasts: MILLISECONDS,
  },
);

const INPUTS = {
  version: TAG,
  image: { type: 'string', format: 'image' },
  rollout: REF,
  gate: REF,
  freeze: FREEZE,
  reason: { type: 'string', maxLength: LIMITS.gateReason },
};

const isAction = ajv.compile<ActionRequest>(
  record(
    {
      type: { enum: Object.keys(ACTIONS) },
      object: record({ kind: TEXT, namespace: { anyOf: [NAME, { const: '' }] }, name: NAME }),
    },
    INPUTS,
  ),
);
const isAdoption = ajv.compile<AdoptRequest>(
  record({
    ...REF.properties,
    kind: { enum: ['Kustomization', 'OCIRepository'] },
    choices: record({}, { policy: NAME, variable: { type: 'string', format: 'variable' }, rollout: NAME, runs: TAG }),
  }),
);

/** The posted action; undefined for any other value. */
export function actionRequestOf(value: unknown): ActionRequest | undefined {
  if (!isAction(value)) return undefined;
  const { kinds, takes = [] } = ACTIONS[value.type];
  const { kind, namespace } = value.object;
  const isRight = kinds.includes(kind) && (namespace === '') === kind.startsWith('Cluster');
  return isRight && takes.every((input) => value[input] !== undefined) ? value : undefined;
}

/** The posted request to adopt an object; undefined for any other value. */
export function adoptRequestOf(value: unknown): AdoptRequest | undefined {
  return isAdoption(value) ? value : undefined;
}
