/** What a budget lets through, where each version's wave is, and what it holds after failures. */

import { READY } from '../../../api/conditions.ts';
import type { Budget } from '../../../api/types.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { few } from '../../../core/kube/firstFew.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { withoutCommands } from '../../../core/text/commands.ts';
import { budgetActions } from '../../actions/gateActions.ts';
import { remediesOf } from '../../actions/lines.ts';
import type { Cause } from '../application.ts';
import type { Explanation } from '../explanation.ts';
import { objectRef } from '../objectRef.ts';

type Versions = NonNullable<NonNullable<Budget['status']>['versions']>;

/** How many versions are told of: a budget knows some more. */
const TOLD = 5;

export function explainBudget(budget: Budget): Explanation {
  const object = objectRef(budget.metadata.namespace ? 'RolloutBudget' : 'ClusterRolloutBudget', identityOf(budget));
  const { status } = budget;
  const ready = findCondition(status?.conditions, READY);
  const versions = (status?.versions ?? []).slice(0, TOLD);
  const held = versions.filter(({ held: isHeld }) => isHeld);
  const title = `${object.kind} ${refKey(object)}`;
  // What is held says the same, of each version and with what to do about it as a remedy.
  const isSaid = ready?.reason === 'VersionHeld' && held.length > 0;
  const state = ready ? `${title}: ${withoutCommands(ready.message)}` : `${title} has not been looked at yet`;
  const causes: Cause[] = [
    ...(isSaid ? [] : [{ code: ready?.reason ?? 'NotSeen', text: state }]),
    ...held.map((each) => ({ code: 'VersionHeld', text: heldText(each) })),
    ...versions.flatMap((each) => (each.waves ? [{ code: 'Wave', text: waveText(each) }] : [])),
  ];
  return {
    object,
    headline: `${status?.underWay ?? 0} of ${status?.maxConcurrent ?? budget.spec.maxConcurrent} on their way, ${status?.waiting ?? 0} waiting, ${status?.failed ?? 0} failed`,
    state: held.length > 0 || ready?.status === 'False' ? 'held' : 'free',
    causes,
    ...((status?.waiting ?? 0) > 0 &&
      held.length === 0 && { next: { text: 'the next Rollout begins when one of those on their way has ended' } }),
    remedies: remediesOf(budgetActions(budget).slice(0, TOLD), 0),
    unread: [],
  };
}

function heldText({ version, failed, failures = [] }: Versions[number]): string {
  const names = failures.map(({ namespace, name }) => `${namespace}/${name}`);
  return `Version ${version} is held: it has failed in ${failed} ${failed === 1 ? 'Rollout' : 'Rollouts'}${names.length > 0 ? ` (${few(names, TOLD, failed)})` : ''}`;
}

/** `1.2.0: wave canary 2/2 done, eu 4/18, 5 on their way, 1 failed`. */
function waveText({ version, waves = [] }: Versions[number]): string {
  const texts = waves.map(({ value, total, done, underWay, failed }) => {
    const now = [...(underWay > 0 ? [`${underWay} on their way`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
    return `${value || 'the others'} ${done}/${total} done${now.length > 0 ? ` (${now.join(', ')})` : ''}`;
  });
  return `${version} by waves: ${texts.join(', ')}`;
}
