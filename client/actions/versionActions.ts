/** Of a deployment in the history, or of any release: deploy it, go back to it, or stay on it. */
import { DEPLOY_MESSAGE } from '../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import type { Application, DeploymentView } from '../explain/application.ts';
import type { Action } from './action.ts';
import { makeable, offer } from './offer.ts';

type Known = Pick<Application, 'namespace' | 'name' | 'pinned' | 'runs' | 'history'>;

/** What ran before is gone back to: deployed by hand, it would give way to the newer one at once. */
export function versionActions(application: Known, version: string): Action[] {
  const { namespace, name, runs, history } = application;
  const object = { kind: 'Rollout' as const, namespace, name };
  const found = rolloutSketch(application);
  if (runs?.version === version) {
    const text = `Stays on ${version}: nothing newer is deployed until you unpin.`;
    return makeable(offer({ type: 'pin', object, version }, found, { text }), 0);
  }
  const ran = history.some((each) => each.version === version && each.outcome === 'Succeeded');
  const back = ran ? makeable(offer({ type: 'rollback', object, version }, found), 0) : [];
  if (back.length > 0) return back;
  const deploy = offer({ type: 'deploy', object, version }, found, {
    label: `Deploy ${version}`,
    submit: 'Deploy',
    text: `Deploys ${version} manually. Newer versions are candidates again afterwards: pin it to stay.`,
  });
  return makeable([...deploy, ...offer({ type: 'pin', object, version }, found)], 0);
}

/** As much of the Rollout as the application has. */
function rolloutSketch({ namespace, name, pinned, history }: Known): Rollout {
  return {
    apiVersion: apiVersionOf(KINDS.Rollout),
    kind: 'Rollout',
    metadata: { namespace, name, annotations: { [DEPLOY_MESSAGE]: '' } },
    spec: pinned === undefined ? {} : { wantedVersion: pinned },
    status: { history: history.map(entryOf) },
  } as unknown as Rollout;
}

function entryOf({ id, version, at, outcome, rolledBackFrom }: DeploymentView) {
  return {
    id,
    version: { tag: version },
    timestamp: at,
    bakeStatus: outcome,
    ...(rolledBackFrom && { rolledBackFrom }),
  };
}
