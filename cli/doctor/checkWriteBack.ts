/** Checks that the versions of Rollouts with spec.writeBack are committed, and that no marker bypasses their Gates. */
import { ROLLOUT_NAME_LABEL } from '../../api/annotations.ts';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import type { LabelSelector } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { matchesSelector, selectorProblems } from '../../core/kube/selector.ts';
import { derivedLabels, writeBackName } from '../../core/policy/derivedPolicy.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { checkOf, type Found, notChecked, problemIf } from './finding.ts';

export const checkWriteBack = checkOf('Write-back', async ({ kind }) => {
  const rollouts = (await kind<Rollout>('Rollout'))?.filter(writeBackName) ?? [];
  if (rollouts.length === 0) return [];
  const [policies, automations] = await Promise.all([
    kind<ImagePolicy>('ImagePolicy'),
    kind<FluxObject>('ImageUpdateAutomation'),
  ]);
  return writeBackFindings({ rollouts, policies, automations });
});

/** Lists of objects. A list that could not be read is absent. */
interface WriteBackObjects {
  rollouts: readonly Rollout[];
  policies?: readonly ImagePolicy[] | undefined;
  automations?: readonly FluxObject[] | undefined;
}

export function writeBackFindings({ rollouts, policies, automations }: WriteBackObjects): Found[] {
  return rollouts.flatMap((rollout) => {
    const name = writeBackName(rollout);
    if (name === undefined) return [];
    const { namespace = '' } = rollout.metadata;
    const find = (key: string) => policies?.find((policy) => refKey(identityOf(policy)) === key);
    const isMissing = policies && !find(`${namespace}/${name}`) && (rollout.status?.history?.length ?? 0) > 0;
    const commits = automations?.filter((each) => selects(each, namespace, derivedLabels(rollout)));
    const found = (isSo: boolean | undefined, why: string, fix: string) =>
      problemIf(
        isSo === true,
        `Rollout ${refKey(identityOf(rollout))} writes back, but ${why}: nothing is committed`,
        fix,
      );
    const bind = `bind the ClusterRole rollout-hooks-write-back in ${namespace} (manifests/examples/write-back.yaml); else see the Rollout's condition Ready`;
    const noAutomation = `no ImageUpdateAutomation in ${namespace} with the strategy Setters selects ImagePolicy ${name}`;
    return [
      ...found(isMissing, `its ImagePolicy ${namespace}/${name} does not exist`, bind),
      ...found(commits?.length === 0, noAutomation, 'create one: docs/write-back.md'),
      ...markerNote(rollout, find(refKey(policyRef(rollout) ?? { namespace: '', name: '' })), commits ?? []),
    ];
  });
}

/** The note that markers in Git, which can't be checked, may name the Rollout's own ImagePolicy. */
function markerNote(rollout: Rollout, source: ImagePolicy | undefined, automations: readonly FluxObject[]): Found[] {
  if (!source) return [];
  const { namespace = '', labels } = source.metadata;
  const both = automations.find((each) => selects(each, namespace, labels));
  if (!both) return [];
  const what = `whether a marker in Git names ImagePolicy ${refKey(identityOf(source))}, which ImageUpdateAutomation ${refKey(identityOf(both))} selects too`;
  const help = `its versions would bypass every Gate and RolloutGate of Rollout ${rollout.metadata.name}. To prevent that, select the label ${ROLLOUT_NAME_LABEL} in spec.policySelector`;
  return [notChecked(`${what}: ${help}`)];
}

interface AutomationSpec {
  update?: { strategy?: string };
  policySelector?: LabelSelector;
}

/** Whether an ImageUpdateAutomation selects an ImagePolicy of its namespace, with the strategy Setters, the default. */
function selects({ metadata, spec }: FluxObject, namespace: string, labels: Record<string, string> | undefined) {
  const { update, policySelector } = (spec ?? {}) as AutomationSpec;
  if (metadata.namespace !== namespace || (update?.strategy ?? 'Setters') !== 'Setters') return false;
  return selectorProblems(policySelector, '').length === 0 && matchesSelector(policySelector, labels);
}
