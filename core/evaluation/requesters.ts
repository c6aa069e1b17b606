/**
 * Who asked for a version by hand. The webhook notes it for each request on its own, in an annotation of JSON: `requested-by`
 * has one user only, the one whose deployment it will be.
 */
import { BYPASS_ROLLOUT_GATES, FORCE_DEPLOY, REQUESTED_BY, REQUESTERS } from '../../api/annotations.ts';
import type { Rollout } from '../../api/types.ts';
import type { Background } from '../approval/verdict.ts';
import { requestsOf } from './requests.ts';

const PARTS = ['wantedVersion', 'force-deploy', 'bypass-gates'] as const;
type Part = (typeof PARTS)[number];

/** For the webhook: the text of the annotation after this write by `user`; undefined where nothing names a version. */
export function notedRequesters(rollout: Rollout, before: Rollout | undefined, user: string): string | undefined {
  const [now, old] = [namedBy(rollout), before && namedBy(before)];
  const known = before && usersOf(before);
  const users = PARTS.flatMap((part) => {
    if (now[part] === undefined) return [];
    const by = now[part] === old?.[part] ? known?.[part] : user;
    return by === undefined ? [] : [[part, by] as const];
  });
  return users.length > 0 ? JSON.stringify(Object.fromEntries(users)) : undefined;
}

/** Of what is asked for and not yet handled. */
export function requestersOf(rollout: Rollout, version: string): Pick<Background, 'requesters' | 'onBehalfOf'> {
  const { forceDeploy, bypassGates, deployUser } = requestsOf(rollout);
  const asked: Record<Part, string | undefined> = {
    wantedVersion: rollout.spec?.wantedVersion || undefined,
    'force-deploy': forceDeploy,
    'bypass-gates': bypassGates,
  };
  const parts = PARTS.filter((part) => asked[part] === version);
  if (parts.length === 0) return { requesters: [] };
  const known = usersOf(rollout);
  // A request from before requesters were noted.
  const newest = rollout.metadata.annotations?.[REQUESTED_BY];
  const requesters = parts.flatMap((part) => known[part] ?? newest ?? []);
  return { requesters: [...new Set(requesters)], ...(deployUser && { onBehalfOf: deployUser }) };
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
