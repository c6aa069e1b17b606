/** The Warnings for the writer of a Rollout, for a write that is allowed. */
import { BYPASS_REASON } from '../../api/annotations.ts';
import { HEALTH_CHECKS } from '../../api/kinds.ts';
import type { WebhookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { countText } from '../../core/approval/approvalVerdict.ts';
import { repeatsReason } from '../../core/gate/bypassReason.ts';
import { isMissing } from '../../core/gate/evaluateGates.ts';
import { gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { sameJson } from '../../core/kube/json.ts';
import { without } from '../../core/kube/names.ts';
import { toSelectorString } from '../../core/kube/selector.ts';
import { areClosed, bypassWarning } from '../../core/objectGates/gateTexts.ts';
import { endsByTimeAlone } from '../../core/rollout/deployment/healthChecks.ts';
import { movedHeadText } from '../../core/rollout/deployment/history.ts';
import { newRequests, unavailableText } from '../../core/rollout/evaluation/rolloutRequests.ts';
import { missingApprovals, rolloutGateApprovals } from '../../core/rollout/evaluation/versionApprovals.ts';
import { arePassing, nextAutomatic } from '../../core/rollout/rolloutStatus.ts';
import { listRolloutGates } from '../../live/objectReads.ts';
import { readClosedGates, readGatesOfVersion } from '../closedGateReads.ts';

/** The most Gates, and RolloutGates, in the Warnings about one write. */
const MAX_GATES_IN_WARNINGS = 3;

/** The Warnings, sentences with the important words first: responseOf cuts them at 120 characters. */
export async function rolloutWarnings(
  rollout: Rollout,
  old: Rollout | undefined,
  call: WebhookCall,
): Promise<string[]> {
  const { wantedVersion, forceDeploy } = newRequests(rollout, old);
  const version = wantedVersion ?? forceDeploy;
  const requested = version && version !== rollout.status?.history?.[0]?.version.tag ? version : undefined;
  const read = await Promise.all([
    absentGateWarnings(rollout, old, call),
    requested === undefined ? [] : closedGateWarnings(rollout, old, requested, call),
    requested === undefined ? [] : approvalWarnings(rollout, requested, call),
    healthCheckWarnings(rollout, old, call),
  ]);
  const automatic = [...unpinWarnings(rollout, old), ...forceDeployWarnings(rollout, old)];
  return [...versionWarnings(rollout, old), ...automatic, ...read.flat()];
}

/**
 * The Warning for a write that removes a pin: a newer version, which may be the reason for the pin, is deployed at
 * once.
 */
function unpinWarnings(rollout: Rollout, old: Rollout | undefined): string[] {
  const pinned = old?.spec?.wantedVersion;
  if (!pinned || rollout.spec?.wantedVersion || newRequests(rollout, old).forceDeploy) return [];
  const next = nextAutomatic(rollout.status ?? old.status ?? {});
  if (next === undefined || next === pinned) return [];
  return [`version ${next} is deployed next. To skip it: pin again, reject ${next}, then unpin`];
}

/** The Warning for a force-deploy of an older version: unlike a pin, it leaves the newer version a candidate. */
function forceDeployWarnings(rollout: Rollout, old: Rollout | undefined): string[] {
  const { forceDeploy: forced } = newRequests(rollout, old);
  const status = rollout.status ?? old?.status ?? {};
  const deployed = status.history?.[0]?.version.tag;
  const { releaseCandidates = [], youngReleases = [], withdrawnReleases = [], rejectedReleases = [] } = status;
  const isKnown = status.availableReleases?.some(({ tag }) => tag === forced);
  const isNewer = [...releaseCandidates, ...youngReleases, ...withdrawnReleases, ...rejectedReleases].some(
    ({ tag }) => tag === forced,
  );
  if (!forced || !deployed || forced === deployed || !isKnown || isNewer) return [];
  if (rollout.spec?.wantedVersion || !arePassing(status.gates)) return [];
  const next = nextAutomatic(status) ?? deployed;
  return [`${next} replaces ${forced} once nothing blocks it. To stay on ${forced}, set spec.wantedVersion`];
}

function versionWarnings(rollout: Rollout, old: Rollout | undefined): string[] {
  const status = rollout.status ?? old?.status ?? {};
  const { availableReleases, releaseCandidates } = status;
  const lacks = (list: { tag: string }[] | undefined, tag: string) => !list?.some((release) => release.tag === tag);
  const { wantedVersion: wanted, forceDeploy: force, bypassGates: bypass } = newRequests(rollout, old);
  const warnings: string[] = [];
  const ran = (tag: string) => status.history?.some((entry) => entry.version.tag === tag);
  if (wanted && availableReleases && lacks(availableReleases, wanted)) {
    warnings.push(
      ran(wanted)
        ? `wantedVersion ${wanted} ran before, but is no longer an available release: check that its image still exists`
        : `wantedVersion ${wanted} is not an available release and is deployed anyway: is it a typo?`,
    );
  }
  const rejected = status.rejectedReleases?.find(({ tag }) => tag === (wanted ?? force));
  if (rejected) {
    const { tag, gate } = rejected;
    warnings.push(`version ${tag} waits until it is removed from spec.rejectedVersions of RolloutGate '${gate}'`);
  }
  const pinnedTo = rollout.spec?.wantedVersion;
  if (force && pinnedTo && pinnedTo !== force) {
    warnings.push(`force-deploy: version ${force} waits while spec.wantedVersion is ${pinnedTo}: set that instead`);
  }
  if (force && force === status.history?.[0]?.version.tag && movedHeadText(status)) {
    const todo = 'publish the new image under a new tag';
    warnings.push(`force-deploy: version ${force} is deployed already, and its tag was moved: ${todo}`);
  }
  if (force && lacks(availableReleases, force)) {
    warnings.push(
      ran(force)
        ? `force-deploy: version ${force} is no longer an available release and waits: set spec.wantedVersion to deploy it`
        : unavailableText('force-deploy', force),
    );
  }
  if (bypass && lacks(releaseCandidates, bypass)) {
    const isDeployed = bypass === status.history?.[0]?.version.tag;
    const why = isDeployed
      ? 'is deployed already; the request has no effect'
      : 'is not a release candidate; the request has no effect until it is one';
    warnings.push(`bypass-gates: version ${bypass} ${why}`);
  }
  return warnings;
}

/** The Warnings for new names in spec.gates without a Gate: a typo, or Git creates the Gate later. */
async function absentGateWarnings(rollout: Rollout, old: Rollout | undefined, call: WebhookCall): Promise<string[]> {
  const named = (of: Rollout) => gatesNamedBy(of, call.settings);
  const refs = without(named(rollout), old ? named(old) : []);
  const closed = await readClosedGates({ refs }, call);
  const absent = (closed?.gates ?? []).filter(isMissing).slice(0, MAX_GATES_IN_WARNINGS);
  return absent.map(({ message }) => `spec.gates: ${message}`);
}

/** The Warning for a manual deployment that closed Gates block. */
async function closedGateWarnings(
  rollout: Rollout,
  old: Rollout | undefined,
  requested: string,
  call: WebhookCall,
): Promise<string[]> {
  const { closed, bypassed } = await readGatesOfVersion(rollout, requested, call);
  if (!closed) return bypassed ? [bypassWarning(requested, bypassed)] : [];
  const waits = `version ${requested} waits: ${areClosed(closed)}`;
  return repeatsReason(rollout, old) ? [waits, OLD_REASON] : [waits];
}

const OLD_REASON = `${BYPASS_REASON} is not new, so it bypasses nothing: to bypass closed Gates, give another reason`;

/** The Warnings for a manual deployment that lacks approvals of RolloutGates. */
async function approvalWarnings(rollout: Rollout, requested: string, call: WebhookCall): Promise<string[]> {
  const { releaseAuthors = [] } = rollout.status ?? {};
  const gates = await listRolloutGates(rollout, call.cluster);
  const missing = missingApprovals(rolloutGateApprovals(rollout, gates, releaseAuthors, call.now), requested);
  return missing.slice(0, MAX_GATES_IN_WARNINGS).map(({ gate, verdict: { counted, required } }) => {
    const count = countText(counted.length, required);
    return `version ${requested} waits: RolloutGate '${gate.metadata.name}' has ${count}`;
  });
}

/** The Warning for bakes that watch nothing: without a selector, or with a new one that matches no HealthCheck. */
async function healthCheckWarnings(rollout: Rollout, old: Rollout | undefined, call: WebhookCall): Promise<string[]> {
  const selector = rollout.spec?.healthCheckSelector;
  const byTime = endsByTimeAlone(rollout.spec);
  if (byTime !== undefined) return endsByTimeAlone(old?.spec) === undefined ? [byTime] : [];
  const labels = healthCheckLabels(selector);
  // HealthChecks of other namespaces also need consent; the condition HealthChecksMissing reports those.
  if (!labels || selector?.namespaceSelector || sameJson(selector, old?.spec?.healthCheckSelector)) return [];
  const found = await call.cluster.list<HealthCheck>({
    ...HEALTH_CHECKS,
    namespace: rollout.metadata.namespace ?? '',
    labelSelector: toSelectorString(labels),
    atMost: 1,
  });
  return found.length > 0
    ? []
    : ['spec.healthCheckSelector matches no HealthCheck: bakes check no health until one appears'];
}
