/** Budgets that Metacontroller cannot ask about: what they select is sent in one request. */
import { MAX_REQUEST_BYTES } from '../../../api/metacontroller.ts';
import type { Budget, Rollout } from '../../../api/types.ts';
import { selects } from '../../../core/budget/selectingBudgets.ts';
import { goJsonBytes } from '../../../core/kube/json.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { budgetKind } from '../../actions/writes/budget.ts';
import { type Finding, problem } from './finding.ts';

const ABOUT = 'Budgets';
/** Of the limit: a history grows with each deployment. */
const NEAR = 0.8;
const MIB = 1024 * 1024;

/** `labels`: of each Namespace by its name; undefined where they may not be read. */
export function sizeFindings(
  budgets: readonly Budget[],
  rollouts: readonly Rollout[],
  labels: ReadonlyMap<string, Readonly<Record<string, string>>> | undefined,
): Finding[] {
  return budgets.flatMap((budget) => {
    if (!labels && !budget.metadata.namespace) return [];
    const selected = rollouts.filter((rollout) =>
      selects(budget, rollout, labels?.get(rollout.metadata.namespace ?? '') ?? {}),
    );
    const bytes = selected.reduce((sum, rollout) => sum + goJsonBytes(rollout), goJsonBytes(budget));
    if (bytes < MAX_REQUEST_BYTES * NEAR) return [];
    const ref = identityOf(budget);
    const isOver = bytes > MAX_REQUEST_BYTES;
    const size = `The ${selected.length} Rollouts that ${budgetKind(budget)} ${refKey(ref)} selects are ${inMib(bytes)} together`;
    const limit = `a request to its hook may have ${inMib(MAX_REQUEST_BYTES)}`;
    return [
      problem(
        ABOUT,
        isOver ? `${size}, and ${limit}: it is refused with 413, and nothing is granted` : `${size}: ${limit}`,
        'several budgets that select fewer, or a shorter spec.versionHistoryLimit of the Rollouts',
      ),
    ];
  });
}

const inMib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;
