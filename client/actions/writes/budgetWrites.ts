/** The write of a budget: continue a version despite its failures. */
import { CONTINUE } from '../../../api/annotations.ts';
import type { Budget, BudgetVersion } from '../../../api/types.ts';
import { pendingContinue } from '../../../core/budget/continueRequest.ts';
import { refKey } from '../../../core/kube/names.ts';
import { countOf } from '../../../core/text/count.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import {
  badRequest,
  changeCause,
  noChange,
  type PlannedWrite,
  type Progress,
  patchMetadata,
  patchWrite,
  titleOf,
} from './plannedWrite.ts';

export function budgetKind({ metadata }: Budget): 'RolloutBudget' | 'ClusterRolloutBudget' {
  return metadata.namespace ? 'RolloutBudget' : 'ClusterRolloutBudget';
}

/** The versions that the budget blocks after failures. `name`: `1.2.0`, or with the image if that is ambiguous. */
export function blockedVersions({ status }: Budget): { name: string; of: BudgetVersion }[] {
  const blocked = (status?.versions ?? []).filter((each) => each.blocked);
  return blocked.map((of) => ({ name: versionName(of, blocked), of }));
}

/** The version, with its image if another one of `among` has the same version. */
export function versionName(of: BudgetVersion, among: readonly BudgetVersion[]): string {
  const isOne = among.every((each) => each === of || each.version !== of.version);
  return isOne ? of.version : `${of.image}:${of.version}`;
}

/** Excuses the failures of a version so far. `wanted`: `1.2.0` or `<image>:1.2.0`. */
export function continueVersion(budget: Budget, wanted: string, reason: string | undefined): PlannedWrite {
  const title = titleOf(budget);
  const known = (budget.status?.versions ?? []).filter(
    ({ version, image }) => wanted === version || wanted === `${image}:${version}`,
  );
  const failed = known.filter((each) => each.failed > 0);
  if (failed.length === 0) {
    const blocked = blockedVersions(budget).map((each) => each.name);
    return badRequest(
      `${title} has recorded no failure of ${wanted}: it blocks ${firstFew(blocked, 5) || 'no version'}.`,
    );
  }
  if (!failed.some(({ blocked }) => blocked))
    return noChange(`${title} does not block ${wanted}: there is nothing to continue.`);
  const annotations = { [CONTINUE]: wanted, ...changeCause(`continue ${wanted}`, reason) };
  return patchWrite(budget, patchMetadata(annotations), {
    text: `Requested that ${title} continue ${wanted}`,
    concerns: failed.filter(({ blocked }) => blocked).map(failureText),
  });
}

/** The progress of a request to continue: reached once the budget no longer blocks the version. */
export function continueProgress(budget: Budget, wanted: string): Progress {
  if (pendingContinue(budget)) return { is: 'under way', text: `it has not handled the request for ${wanted} yet` };
  const blocked = blockedVersions(budget).some(
    ({ of }) => wanted === of.version || wanted === `${of.image}:${of.version}`,
  );
  return blocked
    ? { is: 'under way', text: `it still blocks ${wanted}` }
    : { is: 'reached', text: `${wanted} continues` };
}

function failureText({ version, failed, failures = [] }: BudgetVersion): string {
  const names = firstFew(failures.map(refKey), 5, failed);
  return `${version} has failed in ${countOf(failed, 'Rollout')} (${names}): the others will deploy it anyway`;
}
