/** The condition Ready of a budget, and the Events for its changes. */
import { CONTINUE } from '../../api/annotations.ts';
import { READY } from '../../api/conditions.ts';
import type { Budget, BudgetVersion, Slot, Wave } from '../../api/types.ts';
import { falseCondition, type NewCondition, trueCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { tagWord } from '../kube/tag.ts';
import { LIMITS } from '../limits.ts';
import type { TextWithCommands } from '../text/commands.ts';
import { countOf } from '../text/count.ts';
import { firstFew } from '../text/firstFew.ts';
import { shell } from '../text/shell.ts';
import type { BudgetConfig } from './budgetConfig.ts';
import { failedIn, versionOf } from './budgetVersions.ts';
import type { ContinueRequest } from './continueRequest.ts';
import type { Member } from './fleet.ts';
import { versionKey } from './imageVersion.ts';
import { budgetKey } from './selectingBudgets.ts';
import type { SlotResult } from './slots.ts';

interface BudgetOutcome {
  config: BudgetConfig;
  /** The number of Rollouts that the budget selects. */
  selected: number;
  /** Why no slot can be granted, according to the versions. */
  problem: string | undefined;
  slots: readonly Slot[];
  /** Slots in use. */
  taken: number;
  /** Rollouts that request a slot and have none. */
  waiting: number;
  /** Rollouts of earlier waves that have not reported their image. */
  unknown: readonly Member[];
  /** Requested versions that the budget blocks because of failures. */
  blocked: readonly BudgetVersion[];
}

/** The reasons of Ready for which no slot is granted, even if one becomes free. */
export const GRANTS_NOTHING: readonly string[] = ['TooManyRollouts', 'TooManyVersions', 'Closed'];

/** The condition Ready. Its reason is the first cause that keeps Rollouts from starting; the message names all. */
export function readyOf(budget: Budget, outcome: BudgetOutcome): NewCondition {
  const { config, selected, problem, slots, blocked } = outcome;
  const overdue = slots.filter(({ state }) => state === 'Overdue');
  const causes: [reason: string, message: string][] = [];
  if (selected > LIMITS.rolloutsOfBudget) {
    const message = `spec.selector matches ${selected} Rollouts, more than ${LIMITS.rolloutsOfBudget} (limit rolloutsOfBudget): no slot is granted`;
    causes.push(['TooManyRollouts', message]);
  }
  if (problem !== undefined) causes.push(['TooManyVersions', `${problem}: no slot is granted`]);
  if (config.maxConcurrent === 0 && selected > 0) {
    causes.push(['Closed', `spec.maxConcurrent is ${budget.spec.maxConcurrent}: no slot is granted`]);
  }
  const blockedTexts = blocked.map((version) => blockedText(budget, version));
  causes.push(...blockedTexts.map(({ text }) => ['VersionBlocked', text] satisfies [string, string]));
  if (overdue.length > 0) {
    const names = firstFew(overdue.map((slot) => `${refKey(slot)} (${slot.version})`));
    causes.push(['Overdue', `${names} exceeded spec.slotTimeout: their slots are free again`]);
  }
  const [first] = causes;
  if (first) {
    const text = causes.map(([, message]) => message).join('; ');
    return { ...falseCondition(READY, first[0], text), commands: blockedTexts.flatMap(({ commands }) => commands) };
  }
  return trueCondition(READY, ...usageOf(outcome));
}

/** The use of the slots, as reason and message of Ready. */
function usageOf({
  config,
  selected,
  slots,
  taken,
  waiting,
  unknown,
}: BudgetOutcome): [reason: string, message: string] {
  const queue = waiting === 0 ? '' : `, ${countOf(waiting, 'Rollout')} ${waiting === 1 ? 'waits' : 'wait'}`;
  if (selected === 0) return ['NothingSelected', 'spec.selector matches no Rollout'];
  if (taken === 0 && waiting === 0) return ['Idle', `${countOf(selected, 'Rollout')}, and none requests a slot`];
  const message = `${taken} of ${config.maxConcurrent} slots are taken${queue}`;
  if (waiting > 0 && taken >= config.maxConcurrent) return ['Full', message];
  if (waiting > 0 && unknown.length > 0) {
    const names = firstFew(unknown.map(({ rollout }) => refKey(identityOf(rollout))));
    return ['ImageUnknown', `${message}: ${names} of earlier waves have not reported an image`];
  }
  if (waiting > 0 && slots.length > 0) return ['WaveUnderWay', `${message} for earlier waves`];
  if (waiting > 0)
    return [
      'WaveIncomplete',
      `${message} until every Rollout of earlier waves has deployed the version that it requests`,
    ];
  return ['Granting', message];
}

function messageOf({ text, commands }: Required<TextWithCommands>): Pick<NewEvent, 'message' | 'commands'> {
  return { message: text, commands };
}

function blockedText({ metadata }: Budget, version: BudgetVersion): Required<TextWithCommands> {
  const [kind, name] = budgetKey({ metadata }).split('/');
  const where = { expanded: metadata.namespace ? shell`-n ${metadata.namespace} ` : '' };
  const target = `${kind?.toLowerCase()}/${name}`;
  const how = shell`kubectl annotate --overwrite ${where}${target} ${CONTINUE}=${tagWord(version.version)}`;
  return {
    text: `${version.version} has failed in ${countOf(version.failed, 'Rollout')}, and no other Rollout starts it (failed: ${failedIn(version)})`,
    commands: [[`To continue ${version.version} despite its failures`, how]],
  };
}

export function blockedEvents(budget: Budget, versions: readonly BudgetVersion[]): NewEvent[] {
  const known = new Map(budget.status?.versions?.map((each) => [versionKey(versionOf(each)), each.blocked === true]));
  return versions
    .filter((version) => version.blocked && !known.get(versionKey(versionOf(version))))
    .map((version) => ({
      type: 'Warning',
      reason: 'VersionBlocked',
      ...messageOf(blockedText(budget, version)),
      about: `${versionKey(versionOf(version))}/${version.failed}`,
      forOthers: `${version.version} has failed in ${countOf(version.failed, 'Rollout')}: the budget stops it in all others`,
    }));
}

export function waveEvent(version: BudgetVersion, wave: Wave): NewEvent {
  const { excused = 0 } = wave;
  const count = excused > 0 ? `${wave.done} of` : 'all';
  const failures = excused > 0 ? `; ${countOf(excused, 'failure')} ${excused === 1 ? 'is' : 'are'} excused` : '';
  const where = `${count} ${countOf(wave.total, 'Rollout')} of the wave ${wave.value || '(rest)'}`;
  const message = `Version ${version.version} has succeeded in ${where}${failures}`;
  return {
    type: 'Normal',
    reason: 'WaveDone',
    message,
    forOthers: message,
    about: `${versionKey(versionOf(version))}/${wave.value}/${wave.total}`,
  };
}

/** Events for a slot that is overdue, or whose Rollout is gone or does not respond. */
export function slotEvents(before: Slot, { slot, freed }: SlotResult): NewEvent[] {
  const about = `${before.uid}/${before.request ?? before.grantedTime}`;
  const owner = `Rollout '${refKey(before)}'`;
  // The text for other namespaces names no Rollout.
  const warning = (reason: string, what: string): NewEvent => ({
    type: 'Warning',
    reason,
    message: `${owner} ${what}`,
    forOthers: `A Rollout ${what}`,
    about,
  });
  if (freed === 'Deleted') {
    return [
      { type: 'Normal', reason: 'SlotFreed', message: `${owner} was deleted: its slot is free`, about, quiet: true },
    ];
  }
  if (freed === 'Revoked')
    return [warning('SlotFreed', 'has not used its slot and does not respond: the slot is free')];
  if (slot?.state !== 'Overdue' || before.state === 'Overdue') return [];
  const long = `has been deploying ${slot.version} for longer than spec.slotTimeout`;
  return [warning('SlotOverdue', `${long}: it counts as failed, and its slot is free`)];
}

export function continueEvent({ version, by, id }: ContinueRequest, hasContinued: boolean): NewEvent {
  const message = hasContinued
    ? `${by} continued version ${version}: its failures so far are excused`
    : `${by} requested to continue version ${version}, which has no known failure: nothing changes`;
  return {
    type: 'Normal',
    reason: hasContinued ? 'VersionContinued' : 'ContinueIgnored',
    message,
    about: id,
    forOthers: `Version ${version} continues`,
  };
}
