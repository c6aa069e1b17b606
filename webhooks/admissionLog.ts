/**
 * The log of admission requests. A dry run changes nothing, and isn't logged as a change.
 * A line reports what was admitted. It may still fail to be stored: another webhook may deny it, or the API server may
 * report a conflict.
 */
import type { AdmissionRequest } from '../api/admission.ts';
import { BYPASS_REASON, DEPLOYED, GATE_STATE, ONE_SHOT } from '../api/annotations.ts';
import type { LoggedReason } from '../api/decisions.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { DebugLine, LoggedDecision, Subject } from '../api/ports.ts';
import type { Rollout } from '../api/types.ts';
import { childOf } from '../core/kube/json.ts';
import { deploymentText, parseDeployments } from '../core/managedField/deployment.ts';
import { storedState } from '../core/objectGates/objectState.ts';
import type { AdmissionDecision } from './response.ts';

/** The time for which an equal denial isn't logged again: controllers repeat a denied write. */
const DENIED_AGAIN_MS = 600_000;
/** The time for which an equal change isn't logged again: a patch that meets a conflict is reviewed again at once. */
const CHANGED_AGAIN_MS = 2_000;

/** The log lines of an admission request: a denial, a reverted write, or the changes that it makes. */
export function admissionDecisions(
  route: string,
  request: AdmissionRequest,
  decision: AdmissionDecision,
): LoggedDecision[] {
  const line = (
    reason: LoggedReason,
    message: string,
    key: readonly unknown[],
    more: Pick<LoggedDecision, 'isRateLimited' | 'againAfterMs'>,
  ): LoggedDecision => {
    const about = requestSubject(request);
    const { username: user } = request.userInfo;
    const id = JSON.stringify([about, user, reason, ...key]);
    return { ...about, reason, message, user, key: `admission ${id}`, ...more };
  };
  if (!decision.allowed) {
    const message = `${request.operation} denied (${decision.reason}): ${decision.message}`;
    return request.dryRun
      ? []
      : [line('Denied', message, [message], { isRateLimited: true, againAfterMs: DENIED_AGAIN_MS })];
  }
  const stored = request.oldObject as AnyObject | null | undefined;
  // Logged for a dry run too: each sync of Flux begins with one, and ends there if nothing changes. A kept managed
  // field isn't logged: with a literal in Git it is normal.
  if (decision.revertReason === 'gate_closed') {
    const { uid, generation } = stored!.metadata;
    const message = `${request.operation}: ${decision.warnings?.join(' ') ?? ''}`;
    return [line('Reverted', message, [uid, generation, annotation(stored, GATE_STATE)], { isRateLimited: true })];
  }
  if (request.dryRun) return [];
  const bypass: Change[] = decision.audit?.bypass ? [{ reason: 'BypassAllowed', message: decision.audit.bypass }] : [];
  const changes = [...bypass, ...(request.subResource ? [] : changesOf(route, request, decision))];
  // The API server calls again, with another uid, if another write comes in between.
  const id = textAt(stored, 'metadata', 'uid') ?? textAt(request.object, 'metadata', 'name') ?? request.uid;
  return changes.map(({ reason, message }) => line(reason, message, [id, message], { againAfterMs: CHANGED_AGAIN_MS }));
}

interface Change {
  reason: LoggedReason;
  message: string;
}

/**
 * The lines about the changes that the write makes. The mutating webhook logs those of a Flux object, because the
 * validating one isn't called for each write (manifests/webhooks/README.md).
 */
function changesOf(route: string, { object, oldObject }: AdmissionRequest, decision: AdmissionDecision): Change[] {
  const stored = oldObject as AnyObject | null | undefined;
  const decided = decision.allowed ? (decision.object as AnyObject | undefined) : undefined;
  if (route.startsWith('mutate/flux')) return decided ? fluxChanges(decided, stored) : [];
  if (route === 'validate/rollout' && object) return requestChanges(object as Rollout, stored as Rollout | undefined);
  return [];
}

const STATES = {
  open: ['Resumed', 'no closed Gate holds it now'],
  opening: ['Opening', 'its Gates are open: it waits for the next apply by its applier'],
  closed: ['Suspended', 'held, suspended by closed Gates'],
  bypassed: ['Bypassed', 'runs behind closed Gates, which were bypassed'],
  bypassing: ['Bypassing', 'gets a deployment that bypasses closed Gates'],
} as const;

function fluxChanges(after: AnyObject, before: AnyObject | null | undefined): Change[] {
  const [was, is] = [annotation(before, GATE_STATE), annotation(after, GATE_STATE)];
  const [state, stateBefore] = [after, before ?? undefined].map(storedState);
  const changes: Change[] = [];
  // An object whose first Gate is open wasn't held before.
  if (state && is !== was && (state.is !== 'open' || stateBefore)) {
    const [reason, text] = STATES[state.is];
    changes.push({ reason, message: `${text}${'gates' in state ? `: ${state.gates.join(', ')}` : ''}` });
  }
  if (is === undefined && stateBefore) changes.push({ reason: 'Resumed', message: 'it no longer requires a Gate' });
  const deployed = annotation(after, DEPLOYED);
  if (deployed !== undefined && deployed !== annotation(before, DEPLOYED)) {
    const versions = parseDeployments(deployed).map(deploymentText);
    if (versions.length > 0) changes.push({ reason: 'VersionSet', message: `carries ${versions.join(', ')}` });
  }
  return changes;
}

function requestChanges(after: Rollout, before: Rollout | null | undefined): Change[] {
  const requested = [...ONE_SHOT, BYPASS_REASON].flatMap((key) => {
    const value = annotation(after, key);
    return value === undefined || value === annotation(before, key) ? [] : [`${key}: ${value}`];
  });
  const [was, wanted] = [before, after].map((rollout) => textAt(rollout, 'spec', 'wantedVersion'));
  if (was !== wanted) requested.push(wanted ? `spec.wantedVersion: ${wanted}` : 'spec.wantedVersion: none');
  return requested.map((message) => ({ reason: 'Requested', message }));
}

/** The line at level debug. */
export function admissionDebugLine(route: string, request: AdmissionRequest, decision: AdmissionDecision): DebugLine {
  const { operation, dryRun, userInfo } = request;
  const warnings = decision.warnings?.join(' ');
  return {
    ...requestSubject(request),
    route,
    operation,
    user: userInfo.username,
    ...(dryRun && { dryRun }),
    ...(warnings && { warnings }),
    message: decision.allowed ? 'admission: allowed' : `admission: denied: ${decision.message}`,
  };
}

function requestSubject(request: AdmissionRequest): Subject {
  const object = request.object ?? request.oldObject;
  const name = textAt(object, 'metadata', 'name') ?? textAt(request, 'name');
  return {
    kind: textAt(request, 'kind', 'kind') ?? '',
    namespace: textAt(request, 'namespace') ?? textAt(object, 'metadata', 'namespace') ?? '',
    name: name ?? `${textAt(object, 'metadata', 'generateName') ?? ''}…`,
  };
}

const annotation = (object: unknown, key: string) => textAt(object, 'metadata', 'annotations', key);

/** The text at the path; undefined for any other value: a route that allows objects unread may get any JSON. */
function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = path.reduce(childOf, value);
  return typeof found === 'string' ? found : undefined;
}
