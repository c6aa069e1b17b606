/**
 * Who asked for a version by hand. The webhook notes it for each request on its own, in an annotation of JSON: `requested-by`
 * has one user only, that of the newest request.
 */
import {
  BYPASS_ROLLOUT_GATES,
  FORCE_DEPLOY,
  REQUESTED_AT,
  REQUESTED_BY,
  REQUESTERS,
} from '../../../api/annotations.ts';
import type { Rollout } from '../../../api/types.ts';
import type { Background } from '../../approval/verdict.ts';
import { requestsOf } from './requests.ts';

const PARTS = ['wantedVersion', 'force-deploy', 'bypass-gates'] as const;
type Part = (typeof PARTS)[number];

/** For the webhook: the text of the annotation after this write by `user`; undefined where nothing names a version. */
export function notedRequesters(rollout: Rollout, before: Rollout | undefined, user: string): string | undefined {
  const [now, old] = [namedBy(rollout), before && namedBy(before)];
  const users = PARTS.flatMap((part) => {
    if (now[part] === undefined) return [];
    const by = now[part] === old?.[part] ? before && userOf(before, part) : user;
    return by === undefined ? [] : [[part, by] as const];
  });
  return users.length > 0 ? JSON.stringify(Object.fromEntries(users)) : undefined;
}

/** Of what is asked for and not yet handled. */
export function requestersOf(rollout: Rollout, version: string): Pick<Background, 'requesters' | 'onBehalfOf'> {
  const parts = partsAskingFor(rollout, version);
  if (parts.length === 0) return { requesters: [] };
  const { deployUser } = requestsOf(rollout);
  const requesters = parts.flatMap((part) => userOf(rollout, part) ?? []);
  return { requesters: [...new Set(requesters)], ...(deployUser && { onBehalfOf: deployUser }) };
}

/** Who asked for a deployment of this version by hand, and when; the pin before the force-deploy, as they are deployed. */
export function requesterOf(rollout: Rollout, version: string): { by?: string; at?: string } {
  const part = partsAskingFor(rollout, version).find((each) => each !== 'bypass-gates');
  const by = part && userOf(rollout, part);
  if (by === undefined) return {};
  const { [REQUESTED_BY]: newest, [REQUESTED_AT]: at } = rollout.metadata.annotations ?? {};
  return { by, ...(by === newest && at && { at }) };
}

/** A request for a version, and who made it where that is known. */
export interface VersionRequest {
  by?: string;
  /** What names the version. */
  where: string;
}

const WHERE: Record<Part, string> = {
  wantedVersion: 'spec.wantedVersion',
  'force-deploy': FORCE_DEPLOY,
  'bypass-gates': BYPASS_ROLLOUT_GATES,
};

/** All that ask for this version, those that only let it past RolloutGates too. */
export function versionRequests(rollout: Rollout, version: string): VersionRequest[] {
  return partsAskingFor(rollout, version).map((part) => {
    const by = userOf(rollout, part);
    return { where: WHERE[part], ...(by !== undefined && { by }) };
  });
}

/** `requested by alice at 2026-01-02T12:00:00Z`: of what is asked for by hand and waits; empty where that is not known. */
export function requestedText(rollout: Rollout, version: string): string {
  const { by, at } = requesterOf(rollout, version);
  return by ? `requested by ${by}${at ? ` at ${at}` : ''}` : '';
}

function partsAskingFor(rollout: Rollout, version: string): Part[] {
  const { forceDeploy, bypassGates } = requestsOf(rollout);
  const requested: Record<Part, string | undefined> = {
    wantedVersion: rollout.spec?.wantedVersion || undefined,
    'force-deploy': forceDeploy,
    'bypass-gates': bypassGates,
  };
  return PARTS.filter((part) => requested[part] === version);
}

/** Of a request from before requesters were noted: of the newest. */
function userOf(rollout: Rollout, part: Part): string | undefined {
  return usersOf(rollout)[part] ?? rollout.metadata.annotations?.[REQUESTED_BY];
}

/** Who asked for the newest deployment of a version, as the history has it. */
export function deployedFor({ status }: Rollout, version: string): Pick<Background, 'requesters' | 'onBehalfOf'> {
  const entry = status?.history?.find(({ version: { tag } }) => tag === version);
  const { requestedBy, triggeredBy } = entry ?? {};
  return {
    requesters: requestedBy === undefined ? [] : [requestedBy],
    ...(triggeredBy?.kind === 'User' && { onBehalfOf: triggeredBy.name }),
  };
}

function namedBy({ metadata, spec }: Rollout): Record<Part, string | undefined> {
  return {
    wantedVersion: spec?.wantedVersion || undefined,
    'force-deploy': metadata.annotations?.[FORCE_DEPLOY],
    'bypass-gates': metadata.annotations?.[BYPASS_ROLLOUT_GATES],
  };
}

function usersOf({ metadata }: Rollout): Partial<Record<Part, string>> {
  try {
    const users: Record<string, unknown> = JSON.parse(metadata.annotations?.[REQUESTERS] ?? '{}') ?? {};
    const texts = PARTS.flatMap((part) => (typeof users[part] === 'string' ? [[part, users[part]] as const] : []));
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}
