/** Whether the status of an object is out of date: then nothing reconciles it, and an explanation may be wrong. */
import { AWAITS_ARTIFACT, DEPLOYED } from '../../api/annotations.ts';
import { OPENED } from '../../api/conditions.ts';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { KINDS } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../api/types.ts';
import { gateRequestsOf } from '../../core/gate/gateRequests.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { findCondition } from '../../core/kube/conditions.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';
import { deploymentOf, isSameDeployment, isSetByGit, parseDeployments } from '../../core/managedField/deployment.ts';
import { undiscoveredTag } from '../../core/rollout/release/discovery.ts';
import { type Cause, causeIf } from './application.ts';

/** The longest delay of a sync or of a planned change; both normally take seconds. */
const MAX_DELAY_MS = 60_000;

/** Why the status is not the present one; undefined if it is, or may be. */
export function staleText(object: AnyObject, now: EpochMs): string | undefined {
  const { metadata, status } = object;
  const isOld = (text: unknown) => now - (parseTime(text as string) ?? now) > MAX_DELAY_MS;
  const observed = status?.observedGeneration;
  // -1 is the CRD's default for an object that was not reconciled yet.
  if (status === undefined || observed === -1)
    return isOld(metadata.creationTimestamp) ? 'it has never been reconciled' : undefined;
  if (observed !== undefined && observed !== metadata.generation) return 'its last change has not been reconciled yet';
  if (object.kind === 'Gate' && lacksRequest(object as Gate, now))
    return 'the last request has not been reconciled yet';
  return isOld(status.nextTransition) ? `nothing has reconciled it since ${status.nextTransition}` : undefined;
}

/** Whether a Gate's status is older than its request: a request is an annotation, which changes no generation. */
function lacksRequest(gate: Gate, now: EpochMs): boolean {
  const { current } = gateRequestsOf(gate, now);
  const opened = findCondition(gate.status?.conditions, OPENED);
  if (!current || !opened || now - current.at <= MAX_DELAY_MS) return false;
  return (opened.status === 'True') !== evaluateGate(gate, now).opened;
}

/** Why the newest tag is no release of the Rollout: nothing has reconciled it since. undefined if it is one. */
export function undiscoveredText(rollout: Rollout, policy: ImagePolicy | undefined, now: EpochMs): string | undefined {
  const tag = undiscoveredTag(rollout, policy, now);
  if (tag === undefined || !policy) return undefined;
  return `ImagePolicy ${refKey(identityOf(policy))} selects ${tag}, which is not yet among the releases of the Rollout`;
}

/** Whether the status of the ImagePolicy is older than a release needs to be discovered. */
export function isLongSelected({ metadata }: ImagePolicy, now: EpochMs): boolean {
  const times = (metadata.managedFields ?? []).flatMap(({ time }) => parseTime(time) ?? []);
  return now - Math.max(0, ...times) > MAX_DELAY_MS;
}

/**
 * Why the object lacks the Rollout's newest deployment: the webhook has not set it within a minute. undefined if the
 * object has it, or waits for a Gate or for its source.
 */
export function notSetText(object: FluxObject, rollout: Rollout, now: EpochMs): string | undefined {
  const [head] = rollout.status?.history ?? [];
  const deployment = deploymentOf(rollout);
  const at = parseTime(head?.timestamp);
  const isLate = head?.bakeStatus === 'Deploying' && at !== undefined && now - at > MAX_DELAY_MS;
  if (!deployment || !isLate || isSetByGit(rollout) || object.spec?.suspend === true) return undefined;
  const { [DEPLOYED]: carried, [AWAITS_ARTIFACT]: awaits } = object.metadata.annotations ?? {};
  const isSet = parseDeployments(carried).some((each) => isSameDeployment(each, deployment));
  if (isSet || awaits !== undefined || object.kind === KINDS.HelmRelease.kind) return undefined;
  const name = `${object.kind} ${refKey(identityOf(object))}`;
  const since = `${head.version.tag}, committed at ${formatTime(at)}`;
  return `${name} lacks ${since}. The command doctor checks the webhook and Metacontroller`;
}

export function staleCauses(object: AnyObject, now: EpochMs): Cause[] {
  const text = staleText(object, now);
  const title = `${object.kind} ${refKey(identityOf(object))}`;
  return causeIf('StatusOutOfDate', text && `The status of ${title} is out of date: ${text}`);
}
