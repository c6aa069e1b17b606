/**
 * Admission by the webhook configurations and policies of manifests/: which webhooks get a write, and which policies
 * refuse it.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import jsonpatch from 'jsonpatch';
import type { AdmissionRequest, AdmissionResponse } from '../../../api/admission.ts';
import type { AnyObject } from '../../client/send.ts';
import { readManifests } from '../../local/install/manifests.ts';
import { REPOSITORY } from '../../repository.ts';
import { may } from './access.ts';
import { Authorizer, compile, type Expression, type Scope } from './cel.ts';

/** Calls a webhook; rejects if nothing answers. */
type CallWebhook = (path: string, request: AdmissionRequest) => Promise<AdmissionResponse>;

/** The object after another team's mutating webhook, which is called before ours (`isFirst`) and after them. */
export type OtherWebhook = (object: AnyObject, isFirst: boolean) => AnyObject;

/** An error that the API server answers. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

interface Condition {
  name: string;
  holds: Expression;
}

interface Rule {
  apiGroups: string[];
  resources: string[];
  operations: string[];
}

interface WebhookRow {
  name: string;
  path: string;
  rules: Rule[];
  conditions: Condition[];
  ignoresFailure: boolean;
  reinvoked: boolean;
}

interface Policy {
  name: string;
  rules: Rule[];
  conditions: Condition[];
  variables: Condition[];
  validations: { holds: Expression; reason: string; message: string; messageOf: Expression | undefined }[];
}

const conditionsOf = (list: AnyObject[] = []): Condition[] =>
  list.map(({ name, expression }) => ({ name, holds: compile(expression) }));

function webhooksOf(file: AnyObject): WebhookRow[] {
  return file.webhooks.map((each: AnyObject) => ({
    name: each.name,
    path: each.clientConfig.service.path,
    rules: each.rules,
    conditions: conditionsOf(each.matchConditions),
    ignoresFailure: each.failurePolicy === 'Ignore',
    reinvoked: each.reinvocationPolicy === 'IfNeeded',
  }));
}

const configurations = readManifests(join(REPOSITORY, 'manifests/webhooks'));
const ofKind = (kind: string) => configurations.filter((each) => each.kind === kind).flatMap(webhooksOf);
const MUTATING = ofKind('MutatingWebhookConfiguration');
const VALIDATING = ofKind('ValidatingWebhookConfiguration');
const POLICIES: Policy[] = readManifests(join(REPOSITORY, 'manifests/policies'))
  .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  .map(({ metadata, spec }) => ({
    name: metadata.name!,
    rules: spec.matchConstraints.resourceRules,
    conditions: conditionsOf(spec.matchConditions),
    variables: conditionsOf(spec.variables),
    validations: spec.validations.map((each: AnyObject) => ({
      holds: compile(each.expression),
      reason: each.reason ?? 'Invalid',
      message: each.message ?? each.expression,
      messageOf: each.messageExpression && compile(each.messageExpression),
    })),
  }));

/** The object after the mutating webhooks; `shape` is applied after each. */
export async function mutate(
  write: AdmissionRequest,
  call: CallWebhook,
  shape: (object: AnyObject) => AnyObject,
  other: OtherWebhook = (object) => object,
): Promise<AnyObject | null | undefined> {
  let current = write;
  const called = new Set<WebhookRow>();
  const changedAfter = new Set<WebhookRow>();
  const callOther = (isFirst: boolean) => {
    const changed = current.object && other(current.object, isFirst);
    if (!changed || isDeepStrictEqual(changed, current.object)) return;
    current = { ...current, object: shape(changed) };
    for (const row of called) changedAfter.add(row);
  };
  callOther(true);
  for (const round of [1, 2]) {
    for (const row of MUTATING) {
      // The second round calls no webhook for the first time.
      if (round === 2 && !(row.reinvoked && changedAfter.has(row))) continue;
      const response = await answerOf(row, current, call);
      if (response) called.add(row);
      if (!response?.patch || !current.object) continue;
      const operations = JSON.parse(Buffer.from(response.patch, 'base64').toString());
      if (operations.length === 0) continue;
      current = { ...current, object: shape(jsonpatch.apply_patch(current.object, operations)) };
      for (const each of called) if (each !== row) changedAfter.add(each);
    }
    callOther(false);
    if (changedAfter.size === 0) break;
  }
  return current.object;
}

/** @throws Refusal */
export async function validate(write: AdmissionRequest, call: CallWebhook): Promise<void> {
  enforcePolicies(write);
  await Promise.all(VALIDATING.map((row) => answerOf(row, write, call)));
}

/** @throws Refusal */
export function enforcePolicies(write: AdmissionRequest): void {
  for (const policy of POLICIES) enforce(policy, write);
}

/** The webhook's answer; undefined if the write isn't for it, or if it may fail and doesn't answer. @throws Refusal */
async function answerOf(
  row: WebhookRow,
  write: AdmissionRequest,
  call: CallWebhook,
): Promise<AdmissionResponse | undefined> {
  if (!matchesRules(row.rules, write)) return undefined;
  const scope = scopeOf(write);
  if (!row.conditions.every(({ holds }) => holds(scope))) return undefined;
  let response: AdmissionResponse;
  try {
    response = await call(row.path, write);
  } catch (error) {
    if (row.ignoresFailure) return undefined;
    throw new Refusal(
      500,
      'InternalError',
      `Internal error occurred: failed calling webhook "${row.name}": ${(error as Error).message}`,
    );
  }
  if (response.allowed) return response;
  const { code = 403, message = 'denied', reason = 'Forbidden' } = response.status ?? {};
  throw new Refusal(code, reason, `admission webhook "${row.name}" denied the request: ${message}`);
}

function enforce(policy: Policy, write: AdmissionRequest): void {
  if (!matchesRules(policy.rules, write)) return;
  const scope = scopeOf(write);
  if (!policy.conditions.every(({ holds }) => holds(scope))) return;
  const variables = {};
  for (const { name, holds } of policy.variables) {
    let value: { made: unknown } | undefined;
    const get = () => {
      value ??= { made: holds(scope) };
      return value.made;
    };
    Object.defineProperty(variables, name, { get, enumerable: true });
  }
  scope.variables = variables;
  for (const { holds, reason, message, messageOf } of policy.validations) {
    if (holds(scope)) continue;
    const text = messageOf ? messageOf(scope) : message;
    const code = reason === 'Forbidden' ? 403 : 422;
    throw new Refusal(
      code,
      reason,
      `${write.resource.resource} "${write.name}" is forbidden: ValidatingAdmissionPolicy '${policy.name}' denied request: ${text}`,
    );
  }
}

function matchesRules(rules: readonly Rule[], write: AdmissionRequest): boolean {
  const full = resourceOf(write);
  return rules.some(
    (rule) =>
      rule.apiGroups.includes(write.resource.group) &&
      rule.operations.some((each) => each === '*' || each === write.operation) &&
      rule.resources.includes(full),
  );
}

/** `rollouts`, or `rollouts/status`. */
const resourceOf = ({ resource, subResource }: AdmissionRequest) =>
  subResource ? `${resource.resource}/${subResource}` : resource.resource;

/** The variables of CEL expressions. */
function scopeOf(request: AdmissionRequest): Scope {
  const { object, oldObject, userInfo, resource } = request;
  const named = { group: resource.group, resource: resourceOf(request), verb: '' };
  return { object, oldObject, request, authorizer: new Authorizer((asked) => may(userInfo, asked), named) };
}
