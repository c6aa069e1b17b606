/**
 * The deployment for which a write may bypass Gates: that of the version that the write names, and no other.
 * If the write names no version, automation's next version counts, or the held deployment for whose bake it waits.
 * To bypass Gates for a version that another user requested, the write has to name it.
 */
import { BYPASS_FOR } from '../../../api/annotations.ts';
import type { FluxBinding, HistoryEntry, Rollout } from '../../../api/types.ts';
import { identityOf } from '../../kube/names.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { deployVersionCommand } from '../../managedField/deployment.ts';
import { type BypassGrant, isRollingOut } from '../../suspension/bypassGrant.ts';
import type { TextWithCommands } from '../../text/commands.ts';
import { heldDeployment, isUnfinished } from '../deployment/history.ts';
import { unapplied } from '../deployment/progress.ts';
import { newRequests, requestsOf, type VersionRequest, versionRequests } from './rolloutRequests.ts';

type TargetDeployment = Pick<BypassGrant, 'version' | 'id'>;

type BypassTarget =
  | {
      is: 'deployment';
      deployment: TargetDeployment;
      /** Whether the write requests the version too, besides giving a reason. */
      requestsVersion: boolean;
    }
  | { is: 'none' }
  | { is: 'denied'; why: TextWithCommands };

/**
 * The deployment that a write of a Rollout with a new bypass reason is for.
 * @param bypassFor the annotation BYPASS_FOR of the write
 * @param bound the FluxBindings of the Rollout
 */
export function bypassTarget(
  rollout: Rollout,
  old: Rollout,
  user: string,
  bypassFor: string | undefined,
  bound: readonly FluxBinding[],
): BypassTarget {
  const { wantedVersion, forceDeploy } = newRequests(rollout, old);
  const requested = [wantedVersion, forceDeploy].filter((version) => version !== undefined);
  const named = [...(bypassFor ? [bypassFor] : []), ...requested];
  const underWay = deploymentUnderWay(rollout, bound);
  const waiting = waitingDeployment(rollout);
  const isForHeld =
    named.length > 0 ? named.includes(underWay?.version ?? '') : heldBefore(rollout, waiting?.version) !== undefined;
  const next = (isForHeld ? underWay : undefined) ?? waiting ?? underWay;
  const other = named.find((version) => version !== next?.version);
  if (other !== undefined) return { is: 'denied', why: otherText(rollout, other, next) };
  if (!next) return { is: 'none' };
  if (named.length > 0) return { is: 'deployment', deployment: next, requestsVersion: requested.length > 0 };
  return unnamedTarget(rollout, old, user, next, next === underWay);
}

/**
 * The held deployment that a bypass without a version is for: no version waits, or it waits for the bake of this
 * deployment. Trap: a bypass of the version that waits would release neither.
 */
export function heldBefore(rollout: Rollout, waiting: string | undefined): HistoryEntry | undefined {
  const held = heldDeployment(rollout);
  if (!held || !isRollingOut(held)) return undefined;
  const waitsForBake = rollout.status?.blockers?.some(({ type, version }) => type === 'Bake' && version === waiting);
  return waiting === undefined || waitsForBake ? held : undefined;
}

function unnamedTarget(
  rollout: Rollout,
  old: Rollout,
  user: string,
  next: TargetDeployment,
  isRollingOut: boolean,
): BypassTarget {
  const requests = requestsFor(rollout, next);
  const others = requests.find(({ by }) => by !== user);
  if (others) return { is: 'denied', why: { text: unnamedText(next.version, byText(others)) } };
  // The pending version in the status may be the one whose request this write withdraws.
  const isWithdrawn = !isRollingOut && requests.length === 0 && versionRequests(old, next.version).length > 0;
  if (isWithdrawn) return { is: 'none' };
  if (requests.length > 0 || isRollingOut || isReleased(rollout, next.version)) {
    return { is: 'deployment', deployment: next, requestsVersion: false };
  }
  return { is: 'denied', why: { text: unnamedText(next.version, ', which is not a release candidate') } };
}

/** The next deployment: initialVersion before any other, then a requested version, then the pending one. */
function waitingDeployment(rollout: Rollout): TargetDeployment | undefined {
  const { history: [head] = [], pendingVersion } = rollout.status ?? {};
  const initial = head ? undefined : rollout.spec?.initialVersion;
  const requested = initial || rollout.spec?.wantedVersion || requestsOf(rollout).forceDeploy || pendingVersion;
  const waits = requested !== undefined && requested !== head?.version.tag && isLegalTag(requested);
  return waits ? { version: requested, id: (head?.id ?? 0) + 1 } : undefined;
}

/**
 * The newest deployment, if a Gate has closed while it is rolling out. A deployment without a bake may have Succeeded
 * at once: it rolls out as long as a bound object has not applied it.
 */
function deploymentUnderWay(rollout: Rollout, bound: readonly FluxBinding[]): TargetDeployment | undefined {
  const [head] = rollout.status?.history ?? [];
  if (!head || !isRollingOut(head)) return undefined;
  const isUnderWay = isUnfinished(head) || unapplied(head, bound, rollout).length > 0;
  return isUnderWay ? { version: head.version.tag, id: head.id ?? 0 } : undefined;
}

function requestsFor(rollout: Rollout, { version, id }: TargetDeployment): VersionRequest[] {
  const [head] = rollout.status?.history ?? [];
  const made = id === head?.id && head.requestedBy ? [{ by: head.requestedBy, where: 'status.history[0]' }] : [];
  return [...made, ...versionRequests(rollout, version)];
}

/** Whether automation may deploy the version. The pending version may be one whose request was withdrawn. */
function isReleased({ status }: Rollout, version: string): boolean {
  const { history = [], releaseCandidates = [], youngReleases = [] } = status ?? {};
  const known = [...releaseCandidates, ...youngReleases, ...history.map((entry) => entry.version)];
  return known.some(({ tag }) => tag === version);
}

function otherText(rollout: Rollout, named: string, next: TargetDeployment | undefined): TextWithCommands {
  const { history: [head] = [], pendingVersion } = rollout.status ?? {};
  if (!isLegalTag(named)) {
    return { text: `the version ${JSON.stringify(named)} that the write names is not a valid image tag` };
  }
  if (named === head?.version.tag) {
    const waiting = next?.version ?? pendingVersion;
    const isOther = waiting !== undefined && waiting !== named && isLegalTag(waiting);
    const other = isOther ? `; ${waiting} is waiting: name that version to bypass the Gates for it` : '';
    return { text: `version ${named} is deployed already${other}` };
  }
  const commands: TextWithCommands['commands'] = [
    [
      `To deploy ${named}`,
      deployVersionCommand(identityOf(rollout), named, {
        isPinned: Boolean(rollout.spec?.wantedVersion),
        isBypass: true,
      }),
    ],
  ];
  if (!next) return { text: `no version waits, and the write does not request ${named}`, commands };
  const expected = `${next.version}${byText(requestsFor(rollout, next)[0])}`;
  return {
    text: `the write requests a bypass for version ${named}, but the next deployment would be ${expected}`,
    commands,
  };
}

function unnamedText(version: string, whose: string): string {
  return (
    `the write names no version; the one that waits is ${version}${whose}. To bypass the Gates for it, add ${BYPASS_FOR}=${version} ` +
    'to the same write; for another version, request that one in the same write'
  );
}

function byText(request: VersionRequest | undefined): string {
  return request ? `, which ${request.by ?? 'an unknown user'} requested (${request.where})` : '';
}
