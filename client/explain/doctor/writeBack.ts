/** Rollouts with spec.writeBack whose version nothing commits, or beside which a marker in Git could go past their Gates. */
import { ROLLOUT_NAME_LABEL } from '../../../api/annotations.ts';
import type { FluxObject, ImagePolicy } from '../../../api/flux.ts';
import type { LabelSelector } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { identityOf, refKey } from '../../../core/kube/names.ts';
import { matchesSelector, selectorProblems } from '../../../core/kube/selector.ts';
import { derivedLabels, writeBackName } from '../../../core/policy/derivedPolicy.ts';
import { policyRef } from '../../../core/policy/imagePolicy.ts';
import { type Finding, problem, unseen } from './finding.ts';

const ABOUT = 'Write-back';

interface Automation {
  update?: { strategy?: string };
  policySelector?: LabelSelector;
}

/** Absent lists could not be read. */
export interface WrittenBack {
  rollouts: readonly Rollout[];
  policies?: readonly ImagePolicy[] | undefined;
  automations?: readonly FluxObject[] | undefined;
}

export function writeBackFindings({ rollouts, policies, automations }: WrittenBack): Finding[] {
  return rollouts.flatMap((rollout) => {
    const name = writeBackName(rollout);
    if (name === undefined) return [];
    const { namespace = '' } = rollout.metadata;
    const find = (key: string) => policies?.find((policy) => refKey(identityOf(policy)) === key);
    const derived = find(`${namespace}/${name}`);
    const title = `Rollout ${refKey(identityOf(rollout))}`;
    const isMissing = policies && !derived && (rollout.status?.history?.length ?? 0) > 0;
    const commits = automations?.filter((each) => selects(each, namespace, derivedLabels(rollout)));
    return [
      ...(isMissing ? [missing(title, name, namespace)] : []),
      ...(commits?.length === 0 ? [uncommitted(title, name, namespace)] : []),
      ...besideIt(rollout, find(refKey(policyRef(rollout) ?? { namespace: '', name: '' })), commits ?? []),
    ];
  });
}

function missing(title: string, name: string, namespace: string): Finding {
  return problem(
    ABOUT,
    `${title} writes back, and its ImagePolicy ${namespace}/${name} does not exist: nothing is committed`,
    `bind the ClusterRole rollout-hooks-write-back in ${namespace} (manifests/examples/write-back.yaml); else see the Rollout's condition Ready`,
  );
}

function uncommitted(title: string, name: string, namespace: string): Finding {
  return problem(
    ABOUT,
    `${title} writes back, and no ImageUpdateAutomation in ${namespace} with the strategy Setters selects ImagePolicy ${name}: nothing is committed`,
    'docs/write-back.md has one',
  );
}

/** What markers say only Git knows. */
function besideIt(rollout: Rollout, source: ImagePolicy | undefined, automations: readonly FluxObject[]): Finding[] {
  if (!source) return [];
  const { namespace = '', labels } = source.metadata;
  const both = automations.find((each) => selects(each, namespace, labels));
  if (!both) return [];
  const what = `whether a marker in Git names ImagePolicy ${refKey(identityOf(source))}, which ImageUpdateAutomation ${refKey(identityOf(both))} selects too`;
  const help = `it would be committed past every gate of Rollout ${rollout.metadata.name}. To rule that out, select the label ${ROLLOUT_NAME_LABEL} in spec.policySelector`;
  return [unseen(ABOUT, `${what}: ${help}`)];
}

/** As image-automation-controller has it: policies of its own namespace; Setters is the default, and the only strategy. */
function selects({ metadata, spec }: FluxObject, namespace: string, labels: Record<string, string> | undefined) {
  const { update, policySelector } = (spec ?? {}) as Automation;
  if (metadata.namespace !== namespace || (update?.strategy ?? 'Setters') !== 'Setters') return false;
  return selectorProblems(policySelector, '').length === 0 && matchesSelector(policySelector, labels);
}
