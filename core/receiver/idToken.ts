/**
 * A call with an OIDC ID token that opens or closes a Gate: whether the token has the claims in `spec.receiver.oidc`.
 * The token's signature, issuer and times are verified earlier (server/oidc).
 * A token counts once per Gate, and is identified by its signed part: a signature can be altered and stay valid, and
 * not every issuer gives tokens an id.
 */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { identityOf, shortHash } from '../kube/names.ts';
import { oneLine, quotedJson } from '../text/oneLine.ts';
import { acceptCall, type CallDecision } from './acceptCall.ts';

type Oidc = NonNullable<NonNullable<Gate['spec']['receiver']>['oidc']>;
type Claims = Readonly<Record<string, unknown>>;

/** A call to `POST /hook/<namespace>/<name>`, not checked yet. */
export interface IdTokenCall {
  body: Uint8Array;
  /** From the header `Authorization: Bearer`. */
  token?: string | undefined;
}

/** The path of calls with an ID token, which is no secret. */
export function idTokenPath({ namespace, name }: NamespacedName): string {
  return `/hook/${namespace}/${name}`;
}

/** The longest subject: it precedes the reason, and both share 1024 characters. */
const MAX_SUBJECT_CHARACTERS = 512;
const MAX_QUOTED_CHARACTERS = 100;

/** Why the Gate takes no ID tokens, for its condition ReceiverReady; undefined if the Gate takes them. */
export function oidcProblem(
  gate: Gate,
  { issuer, audience }: Oidc,
  allowed: readonly string[],
): { reason: string; problem: string } | undefined {
  if (!allowed.includes(issuer)) {
    const problem = `spec.receiver.oidc.issuer '${issuer}' is not allowed: the server's setting OIDC_ISSUERS does not list it`;
    return { reason: 'IssuerNotAllowed', problem };
  }
  const path = idTokenPath(identityOf(gate));
  if (audience.endsWith(path)) return undefined;
  const problem = `spec.receiver.oidc.audience '${audience}' does not end with ${path}: a token for it could be for another Gate`;
  return { reason: 'AudienceInvalid', problem };
}

/** The problem with the claims of a verified token; undefined for one that may open the Gate. */
export function claimProblem({ issuer, audience, claims }: Oidc, token: Claims): string | undefined {
  // The Gate may name another issuer since the signature was verified.
  if (token.iss !== issuer) return `the token's iss is ${quotedValue(token.iss)}, not '${issuer}'`;
  const audiences = [token.aud].flat();
  if (audiences.length !== 1 || audiences[0] !== audience) {
    return `the token's aud is ${quotedValue(token.aud)}, but it must be exactly '${audience}'`;
  }
  const { sub } = token;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARACTERS || oneLine(sub) !== sub) {
    return `the token's sub is not a line of 1 to ${MAX_SUBJECT_CHARACTERS} characters`;
  }
  const wrong = Object.entries(claims).find(([name, value]) => textOf(claimOf(token, name)) !== value);
  return wrong && `the token's ${wrong[0]} is ${quotedValue(claimOf(token, wrong[0]))}, not '${wrong[1]}'`;
}

export function decideIdTokenCall(gate: Gate, call: IdTokenCall, claims: Claims, now: EpochMs): CallDecision {
  const { oidc } = gate.spec.receiver ?? {};
  const problem = oidc ? claimProblem(oidc, claims) : 'the Gate takes no ID tokens';
  if (problem !== undefined) return { status: 400, reason: problem };
  const signed = call.token!.slice(0, call.token!.lastIndexOf('.'));
  const hashes = [shortHash(`token ${signed}`)];
  return acceptCall(gate, { at: Number(claims.iat) * 1000, hashes, body: call.body, by: String(claims.sub) }, now);
}

/** The token's own claim, not a property that every object inherits. */
function claimOf(token: Claims, name: string): unknown {
  return Object.hasOwn(token, name) ? token[name] : undefined;
}

/** The claim as text; undefined for lists and objects, which match no value. */
function textOf(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

function quotedValue(value: unknown): string {
  return value === undefined ? 'missing' : quotedJson(value, MAX_QUOTED_CHARACTERS);
}
