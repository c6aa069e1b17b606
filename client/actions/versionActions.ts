/** Of a deployment in the history, or of any release: deploy it, or stay on it. */
import { DEPLOY_MESSAGE } from '../../api/annotations.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import type { Application } from '../explain/application.ts';
import type { Action } from './action.ts';
import { offer } from './offer.ts';

type Known = Pick<Application, 'namespace' | 'name' | 'pinned' | 'runs'>;

export function versionActions(application: Known, version: string): Action[] {
  const { namespace, name, runs } = application;
  const object = { kind: 'Rollout' as const, namespace, name };
  const found = rolloutSketch(application);
  const isRunning = runs?.version === version;
  const deploy = offer({ type: 'deploy', object, version }, found, {
    label: `Deploy ${version}`,
    submit: 'Deploy',
    text: `Deploys ${version} manually. Newer versions are candidates again afterwards: pin it to stay.`,
  });
  const stays = isRunning ? { text: `Stays on ${version}: nothing newer is deployed until you unpin.` } : {};
  return [...(isRunning ? [] : deploy), ...offer({ type: 'pin', object, version }, found, stays)];
}

/** As much of the Rollout as the application has. */
function rolloutSketch({ namespace, name, pinned, runs }: Known): Rollout {
  const head = runs && { id: runs.id, version: { tag: runs.version }, timestamp: runs.at, bakeStatus: runs.outcome };
  return {
    apiVersion: apiVersionOf(KINDS.Rollout),
    kind: 'Rollout',
    metadata: { namespace, name, annotations: { [DEPLOY_MESSAGE]: '' } },
    spec: pinned === undefined ? {} : { wantedVersion: pinned },
    status: { history: head ? [head] : [] },
  } as unknown as Rollout;
}
