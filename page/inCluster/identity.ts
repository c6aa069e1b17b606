/** The identity of a reader for the API server: from the claims of an ID token, or from a proxy's headers. */

export interface Identity {
  user: string;
  groups: string[];
}

export type IdentityResult = { identity: Identity } | { problem: string };

/** The rules by which claims become names, as the API server's --oidc-* flags. */
export interface Naming {
  usernameClaim: string;
  usernamePrefix: string;
  groupsClaim: string;
  groupsPrefix: string;
}

/** The most groups: with more, the session's cookie would be longer than browsers keep. */
export const MAX_GROUPS = 100;
const MAX_NAME_CHARACTERS = 256;
/** The characters of a name: HTTP headers change others, and lose spaces at both ends. */
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** The names of Kubernetes itself: `system:masters` may do everything. */
const RESERVED_NAME = /^\s*system:/i;

export function identityOfClaims(claims: Readonly<Record<string, unknown>>, naming: Naming): IdentityResult {
  const { usernameClaim, groupsClaim } = naming;
  const user = claims[usernameClaim];
  if (typeof user !== 'string') return { problem: `The claim ${usernameClaim} of the issuer's token is not a string.` };
  // As in the API server: an address that is not verified proves nothing.
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true) {
    return { problem: 'The issuer has not verified your email address.' };
  }
  const groups = listOf(claims[groupsClaim]);
  if (!groups) return { problem: `The claim ${groupsClaim} of the issuer's token is not a list of strings.` };
  return checkedIdentity(user, groups, naming);
}

const UNPREFIXED = { usernamePrefix: '', groupsPrefix: '' };

/** The identity in a proxy's headers. `groups`: separated by commas. */
export function identityOfProxy(user: string | undefined, groups: string | undefined): IdentityResult {
  if (!user) return { problem: 'The proxy sent no user name.' };
  const names = (groups ?? '').split(',').map((name) => name.trim());
  return checkedIdentity(
    user,
    names.filter((name) => name !== ''),
    UNPREFIXED,
  );
}

/** Whether the value is a valid identity. One from a cookie is checked again: the rules may have become stricter. */
export function isIdentity(value: unknown): value is Identity {
  const { user, groups } = (value ?? {}) as Partial<Identity>;
  if (typeof user !== 'string' || !Array.isArray(groups)) return false;
  return groups.every((name) => typeof name === 'string') && 'identity' in checkedIdentity(user, groups, UNPREFIXED);
}

/** The key of an identity, equal for equal rights. */
export function identityKey({ user, groups }: Identity): string {
  return JSON.stringify([user, ...[...groups].sort()]);
}

function checkedIdentity(
  user: string,
  groups: readonly string[],
  { usernamePrefix, groupsPrefix }: Pick<Naming, 'usernamePrefix' | 'groupsPrefix'>,
): IdentityResult {
  if (groups.length > MAX_GROUPS)
    return {
      problem: `You are in ${groups.length} groups; at most ${MAX_GROUPS} are supported. Let the issuer send fewer.`,
    };
  const identity = { user: usernamePrefix + user, groups: [...new Set(groups)].map((name) => groupsPrefix + name) };
  const problem =
    nameProblem('user', user) ??
    nameProblem('user', identity.user) ??
    [...groups, ...identity.groups].map((name) => nameProblem('group', name)).find((each) => each !== undefined);
  return problem === undefined ? { identity } : { problem };
}

function nameProblem(what: 'user' | 'group', name: string): string | undefined {
  const shown = JSON.stringify(name.slice(0, 100));
  if (RESERVED_NAME.test(name))
    return `The ${what} ${shown} is reserved for Kubernetes: no reader can sign in with it.`;
  if (name.length > MAX_NAME_CHARACTERS)
    return `The ${what} ${shown}… is longer than ${MAX_NAME_CHARACTERS} characters.`;
  return NAME.test(name) ? undefined : `The ${what} ${shown} is empty, or has characters other than printable ASCII.`;
}

/** The claim as a list, also of a single text; undefined if it is neither a text nor a list of texts. */
function listOf(claim: unknown): string[] | undefined {
  const list = [claim ?? []].flat();
  return list.every((each) => typeof each === 'string') ? (list as string[]) : undefined;
}
