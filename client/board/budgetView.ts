/** A RolloutBudget on the page: its limit, its slots, and the progress of each version in its waves. */
import type { Budget, BudgetVersion, Wave } from '../../api/types.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { explainBudget } from '../explain/kinds/explainOthers.ts';
import type { ExplainedState } from '../explain/kinds/explanation.ts';

/**
 * The state of a wave. `done`: all Rollouts have the version, or their failures are excused. `failed`: some failures
 * are not excused. `waits`: some Rollouts request the version. `idle`: none requests it yet.
 */
export type WaveState = 'done' | 'underWay' | 'failed' | 'waits' | 'idle';

/** One wave. `value`: the label's value; empty for all values without a wave of their own. */
export type WaveView = Pick<Wave, 'value' | 'total' | 'done' | 'underWay' | 'waiting' | 'failed'> & {
  state: WaveState;
};

export interface BudgetVersionView {
  version: string;
  image: string;
  /** Whether failures block the version, until a user continues it. */
  blocked: boolean;
  failed: number;
  /** The user who continued the version despite its failures. */
  continuedBy?: string;
  waves: WaveView[];
}

export interface BudgetView {
  /** The budget's cluster, if several are shown. */
  cluster?: string;
  /** `namespace/name`, or the name of a ClusterRolloutBudget. */
  id: string;
  kind: 'RolloutBudget' | 'ClusterRolloutBudget';
  namespace: string;
  name: string;
  state: ExplainedState;
  /** The summary: `2 of 5 rolling out, 14 waiting, 1 failed`. */
  headline: string;
  /** The causes that `why` prints, without those about slots and waves, which the page draws. */
  causes: string[];
  /** The label that defines the waves. */
  label?: string;
  /** The versions, requested ones first. */
  versions: BudgetVersionView[];
  /** The Rollouts that have a slot, as `namespace/name`. */
  slots: { rollout: string; version: string; state: string }[];
}

const MAX_VERSIONS = 5;
const MAX_SLOTS = 50;

export function budgetView(budget: Budget): BudgetView {
  const { object, headline, state, causes } = explainBudget(budget);
  const { spec, status } = budget;
  const { order } = spec;
  return {
    id: refKey(identityOf(budget)),
    kind: object.kind as BudgetView['kind'],
    namespace: object.namespace,
    name: object.name,
    state,
    headline,
    causes: causes.filter(({ code }) => code !== 'Wave' && code !== 'Slots').map(({ text }) => text),
    ...(order && { label: order.label }),
    versions: (status?.versions ?? []).slice(0, MAX_VERSIONS).map(versionView),
    slots: (status?.slots ?? [])
      .slice(0, MAX_SLOTS)
      .map(({ namespace, name, version, state }) => ({ rollout: refKey({ namespace, name }), version, state })),
  };
}

function versionView({ version, image, blocked, failed, continuedBy, waves = [] }: BudgetVersion): BudgetVersionView {
  return {
    version,
    image,
    blocked: blocked === true,
    failed,
    ...(continuedBy && { continuedBy }),
    waves: waves.map(({ excused, ...wave }) => ({ ...wave, state: waveState({ ...wave, excused }) })),
  };
}

function waveState({ total, done, underWay, waiting, failed, excused = 0 }: Wave): WaveState {
  if (total > 0 && done + excused >= total) return 'done';
  if (failed > excused) return 'failed';
  if (underWay > 0) return 'underWay';
  return waiting > 0 ? 'waits' : 'idle';
}
