/** Budgets and the Rollouts that they select, for tests of the pure core. */
import type { Budget, BudgetStatus, HistoryEntry, Rollout } from '../../../api/types.ts';
import { planBudget } from '../../../core/budget/budgetPlan.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW } from '../rollout/observedFixture.ts';

export const AT = formatTime(NOW);

export const budget = (spec: object = {}, status?: BudgetStatus, annotations: Record<string, string> = {}): Budget =>
  objectOf('RolloutBudget', 'team-a/fleet', {
    metadata: { uid: 'uid-of-fleet', generation: 1, annotations },
    spec: { selector: {}, maxConcurrent: 2, ...spec },
    ...(status && { status }),
  });

export const clusterBudget = (spec: object = {}, status?: BudgetStatus): Budget =>
  objectOf('ClusterRolloutBudget', 'fleet', {
    metadata: { uid: 'uid-of-fleet', generation: 1 },
    spec: { selector: {}, namespaceSelector: { matchLabels: { tier: 'prod' } }, maxConcurrent: 2, ...spec },
    ...(status && { status }),
  });

interface RolloutInput {
  /** Newest first; requests a slot of `fleet` for these versions, if any. */
  asks?: string[];
  since?: number;
  /** `1.0.0 Succeeded`, or manually `1.0.0 Succeeded alice`, newest first. */
  history?: string[];
  ring?: string;
  image?: string;
  revision?: number;
}

export const rollout = (
  name: string,
  { asks, since = 0, history = [], ring, image = 'shop', revision = 5 }: RolloutInput = {},
): Rollout =>
  objectOf('Rollout', `team-a/${name}`, {
    metadata: { uid: `uid-of-${name}`, labels: ring ? { ring } : {} },
    spec: { releasesImagePolicy: { name: 'shop' } },
    status: {
      revision,
      image,
      ...(asks && {
        slotRequest: {
          id: 5,
          since: formatTime(NOW + since),
          versions: asks.map((tag) => ({ tag })),
          budgets: ['RolloutBudget/fleet', 'ClusterRolloutBudget/fleet'],
        },
      }),
      history: history.map((text, i): HistoryEntry => {
        const [tag = '', bakeStatus = '', requestedBy] = text.split(' ');
        const id = history.length - i;
        return { id, version: { tag }, timestamp: AT, bakeStatus, ...(requestedBy && { requestedBy }) };
      }),
    },
  });
export const plan = (of: Budget, rollouts: Rollout[], now = NOW, others: [string, Rollout | undefined][] = []) =>
  planBudget(of, { rollouts, others: new Map(others) }, now);
export const granted = (status: BudgetStatus) =>
  (status.slots ?? []).filter(({ state }) => state === 'Granted').map(({ name, version }) => `${name} ${version}`);
export const readyOf = ({ conditions }: BudgetStatus) => conditions?.find(({ type }) => type === 'Ready');
