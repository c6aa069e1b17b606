/** Rollouts with spec.writeBack whose version nothing commits, or beside which a marker in Git could bypass their Gates. */
import { ROLLOUT_NAME_LABEL } from '../../api/annotations.ts';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import type { LabelSelector } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { matchesSelector, selectorProblems } from '../../core/kube/selector.ts';
import { derivedLabels, writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { type Check, type Finding, problem, reader, notChecked } from './finding.ts';

const ABOUT = 'Write-back';

export const checkWriteBack: Check = async (examined) => {
  const { kind, notes } = reader(examined, ABOUT);
  const rollouts = (await kind<Rollout>('Rollout'))?.filter(writeBackName) ?? [];
  if (rollouts.length === 0) return notes;
  const [policies, automations] = await Promise.all([
    kind<ImagePolicy>('ImagePolicy'),
    kind<FluxObject>('ImageUpdateAutomation'),
  ]);
  return [...writeBackFindings({ rollouts, policies, automations }), ...notes];
};

/** Lists that could not be read are absent. */
interface WrittenBack {
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
    const isMissing = policies && !find(`${namespace}/${name}`) && (rollout.status?.history?.length ?? 0) > 0;
    const commits = automations?.filter((each) => selects(each, namespace, derivedLabels(rollout)));
    const found = (why: string, remedy: string) =>
      problem(ABOUT, `Rollout ${refKey(identityOf(rollout))} writes back, and ${why}: nothing is committed`, remedy);
    const bind = `bind the ClusterRole rollout-hooks-write-back in ${namespace} (manifests/examples/write-back.yaml)`;
    const noAutomation = `no ImageUpdateAutomation in ${namespace} with the strategy Setters selects ImagePolicy ${name}`;
    return [
      ...(isMissing
        ? [
            found(
              `its ImagePolicy ${namespace}/${name} does not exist`,
              `${bind}; else see the Rollout's condition Ready`,
            ),
          ]
        : []),
      ...(commits?.length === 0 ? [found(noAutomation, 'docs/write-back.md has one')] : []),
      ...markerNote(rollout, find(refKey(policyRef(rollout) ?? { namespace: '', name: '' })), commits ?? []),
    ];
  });
}

/** The markers are only in Git, so they can't be checked. */
function markerNote(rollout: Rollout, source: ImagePolicy | undefined, automations: readonly FluxObject[]): Finding[] {
  if (!source) return [];
  const { namespace = '', labels } = source.metadata;
  const both = automations.find((each) => selects(each, namespace, labels));
  if (!both) return [];
  const what = `whether a marker in Git names ImagePolicy ${refKey(identityOf(source))}, which ImageUpdateAutomation ${refKey(identityOf(both))} selects too`;
  const help = `it would be committed past every gate of Rollout ${rollout.metadata.name}. To rule that out, select the label ${ROLLOUT_NAME_LABEL} in spec.policySelector`;
  return [notChecked(ABOUT, `${what}: ${help}`)];
}

interface AutomationSpec {
  update?: { strategy?: string };
  policySelector?: LabelSelector;
}

/** Like image-automation-controller: policies of its own namespace; Setters is the default, and the only strategy. */
function selects({ metadata, spec }: FluxObject, namespace: string, labels: Record<string, string> | undefined) {
  const { update, policySelector } = (spec ?? {}) as AutomationSpec;
  if (metadata.namespace !== namespace || (update?.strategy ?? 'Setters') !== 'Setters') return false;
  return selectorProblems(policySelector, '').length === 0 && matchesSelector(policySelector, labels);
}
