/** Explanations of HealthChecks and budgets, and of other kinds by their conditions. */
import { READY } from '../../../api/conditions.ts';
import type { AnyObject, Condition } from '../../../api/kubernetes.ts';
import type { Budget, BudgetVersion, HealthCheck, Rollout } from '../../../api/types.ts';
import { association } from '../../../core/health/association.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { groupOf, identityOf, refKey } from '../../../core/kube/names.ts';
import { isUnhealthy } from '../../../core/rollout/deployment/healthChecks.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { countOf } from '../../../core/text/count.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { budgetActions } from '../../actions/gateActions.ts';
import { versionName } from '../../actions/writes/budgetWrites.ts';
import { type Cause, causeIf, type ObjectRef, objectRef } from '../application.ts';
import type { Explanation } from './explanation.ts';

/**
 * @param rollouts those of its namespace
 * @param namespaceLabels undefined if the user may not read the Namespace: only the label with its name is known
 */
export function explainHealthCheck(
  check: HealthCheck,
  rollouts: readonly Rollout[],
  namespaceLabels: Record<string, string> = { 'kubernetes.io/metadata.name': check.metadata.namespace ?? '' },
): Explanation {
  const object = objectRef('HealthCheck', identityOf(check));
  const { status = 'Pending', message, lastChangeTime, lastErrorTime } = check.status ?? {};
  const watching = rollouts.filter((rollout) => association(rollout, check, namespaceLabels) === 'watched');
  const names = watching.map((rollout) => `'${rollout.metadata.name}'`);
  const since = lastChangeTime ? ` since ${lastChangeTime}` : '';
  const watched =
    names.length > 0
      ? `${names.length === 1 ? 'Rollout' : 'Rollouts'} ${names.join(', ')} ${names.length === 1 ? 'watches' : 'watch'} it`
      : 'No Rollout of its namespace watches it';
  const text = `HealthCheck ${refKey(object)} is ${status}${since}${message ? `: ${withoutCommands(message)}` : ''}`;
  const { class: computedBy } = check.spec ?? {};
  return {
    object,
    headline: status,
    state: isUnhealthy(check) ? 'failed' : status === 'Healthy' ? 'free' : 'underWay',
    causes: [
      { code: status, text },
      ...causeIf('LastError', lastErrorTime && `Its last error was at ${lastErrorTime}`),
      { code: 'Watched', text: watched },
    ],
    next: {
      text: computedBy
        ? `class ${computedBy} computes it again`
        : 'no automatic change. Its status changes when its reporter updates it',
    },
    actions: [],
    unread: [],
  };
}

/** Any controller may write the condition: every other status counts as Unknown. */
function readiness({ status }: Condition): { text: string; state: Explanation['state'] } {
  if (status === 'True') return { text: 'ready', state: 'free' };
  return status === 'False' ? { text: 'not ready', state: 'failed' } : { text: 'in progress', state: 'underWay' };
}

/** The explanation of an object by its conditions. `resource`: the plural of its kind. */
export function explainByConditions(object: AnyObject, resource: string): Explanation {
  const { namespace, name } = identityOf(object);
  const ref: ObjectRef = { group: groupOf(object.apiVersion), kind: object.kind, resource, namespace, name };
  const title = `${object.kind} ${refKey(ref)}`;
  const conditions: readonly Condition[] = Array.isArray(object.status?.conditions) ? object.status.conditions : [];
  const ready = findCondition(conditions, READY);
  const others = conditions.filter(({ type, status }) => type !== READY && status === 'True');
  const next = object.status?.nextTransition;
  const causes: Cause[] = [...(ready ? [ready] : []), ...others].flatMap(({ reason, message }) =>
    causeIf(reason, message && `${title}: ${withoutCommands(message)}`),
  );
  const none = `${title} reports no status: its controller has not reconciled it, or is not installed`;
  return {
    object: ref,
    headline: ready ? `${readiness(ready).text}: ${ready.reason}` : 'has no condition Ready',
    state: ready ? readiness(ready).state : 'underWay',
    causes: causes.length > 0 ? causes : [{ code: 'NoConditions', text: none }],
    ...(typeof next === 'string' && { next: { text: 'it changes automatically', at: next } }),
    actions: [],
    unread: [],
  };
}

/** The most versions that are listed. */
const MAX_LISTED_VERSIONS = 5;
const MAX_LISTED_SLOTS = 3;

export function explainBudget(budget: Budget): Explanation {
  const object = objectRef(budget.metadata.namespace ? 'RolloutBudget' : 'ClusterRolloutBudget', identityOf(budget));
  const { status } = budget;
  const ready = findCondition(status?.conditions, READY);
  const versions = status?.versions ?? [];
  const blocked = versions.filter((each) => each.blocked);
  const title = `${object.kind} ${refKey(object)}`;
  const isHolding = blocked.length > 0 || ready?.status === 'False';
  const isBusy = (status?.underWay ?? 0) + (status?.waiting ?? 0) > 0;
  // The causes of blocked versions repeat the message, each for its version.
  const isRepeated = ready?.reason === 'VersionBlocked' && blocked.length > 0;
  const state = ready ? `${title}: ${withoutCommands(ready.message)}` : `${title} has not been reconciled yet`;
  const causes: Cause[] = [
    ...(isRepeated ? [] : [{ code: ready?.reason ?? 'NotSeen', text: state }]),
    ...blocked.slice(0, MAX_LISTED_VERSIONS).map((each) => ({ code: 'VersionBlocked', text: blockedText(each) })),
    ...causeIf('Slots', slotsText(budget)),
    ...versions
      .slice(0, MAX_LISTED_VERSIONS)
      .flatMap((each) =>
        each.waves ? [{ code: 'Wave', text: `${versionName(each, versions)} by waves: ${waveText(each)}` }] : [],
      ),
  ];
  return {
    object,
    headline: `${status?.underWay ?? 0} of ${status?.maxConcurrent ?? budget.spec.maxConcurrent} rolling out, ${status?.waiting ?? 0} waiting, ${status?.failed ?? 0} failed`,
    state: isHolding ? 'held' : isBusy ? 'underWay' : 'free',
    causes,
    ...((status?.waiting ?? 0) > 0 && blocked.length === 0 && { next: { text: nextOfBudget(budget) } }),
    actions: budgetActions(budget),
    unread: [],
  };
}

function nextOfBudget({ status, spec: { order } }: Budget): string {
  const { underWay = 0, maxConcurrent = 0 } = status ?? {};
  return order && underWay < maxConcurrent
    ? 'the next wave starts when every Rollout of earlier waves has the version'
    : 'the next Rollout starts when one that is rolling out has ended';
}

function blockedText({ version, failed, failures = [] }: BudgetVersion): string {
  const names = failures.map(refKey);
  return `Version ${version} is blocked: it has failed in ${countOf(failed, 'Rollout')}${names.length > 0 ? ` (${firstFew(names, MAX_LISTED_VERSIONS, failed)})` : ''}`;
}

/** The Rollouts with slots: `shop/eu-1 1.2.0, shop/eu-2 1.2.0 are rolling out`; empty without one. */
function slotsText({ status }: Budget): string {
  const slots = (status?.slots ?? []).map((slot) => `${refKey(slot)} ${slot.version}`);
  if (slots.length === 0) return '';
  return `${firstFew(slots, MAX_LISTED_SLOTS)} ${slots.length === 1 ? 'is' : 'are'} rolling out`;
}

/** The causes about the slots, and about the waves of the version, for a Rollout that waits for the budget. */
export function slotCauses(budget: Budget, version: string, image: string | undefined): Cause[] {
  const found = (budget.status?.versions ?? []).find(
    (each) => each.version === version && (image === undefined || each.image === image),
  );
  const title = `${budget.kind} ${refKey(identityOf(budget))}`;
  const slots = slotsText(budget);
  return [
    ...causeIf('Slots', slots && `${title}: ${slots}`),
    ...causeIf('Wave', found?.waves && `${title}: ${found.version} by waves: ${waveText(found)}`),
  ];
}

/** The waves of a version: `canary 2/2 done, eu 4/18 done (5 rolling out, 1 failed)`. */
function waveText({ waves = [] }: BudgetVersion): string {
  const texts = waves.map(({ value, total, done, underWay, failed }) => {
    const now = [...(underWay > 0 ? [`${underWay} rolling out`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
    return `${value || 'the others'} ${done}/${total} done${now.length > 0 ? ` (${now.join(', ')})` : ''}`;
  });
  return texts.join(', ');
}
