/** A call with an OIDC ID token, from its path to the annotations that carry the request to the Gate. */
import { GATES } from '../api/kinds.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { ReceiverPorts } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { claimProblem, type IdTokenCall, judgeIdTokenCall, oidcProblem } from '../core/receiver/idToken.ts';
import { idTokenPath } from '../core/receiver/webhookPath.ts';
import { type CallOutcome, createLimits, take } from './take.ts';

const PATH = /^\/hook\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Whether it could belong to a Gate, decided before anything is read. */
export function isIdTokenPath(path: string): boolean {
  return PATH.test(path);
}

export function createIdTokenCallHandler(
  ports: ReceiverPorts,
): (ref: NamespacedName, call: IdTokenCall) => Promise<CallOutcome> {
  const { isWithinLimit, logged } = createLimits(ports);

  return async (ref, call) => {
    const path = idTokenPath(ref);
    const found = call.token ? await ports.cluster.get<Gate>({ ...GATES, ...ref }) : undefined;
    const { oidc } = found?.spec.receiver ?? {};
    if (!call.token) return { status: 400 };
    if (!found || !oidc) return { status: 404 };
    const refuse = (status: 400 | 503, reason: string) => logged(path, ref, { status, reason });
    const unready = oidcProblem(found, oidc, ports.oidcIssuers);
    if (unready) return refuse(503, unready.problem);
    const verified = await ports.idTokens.verify(call.token, oidc.issuer, ports.now());
    if ('problem' in verified) return refuse(verified.isTemporary ? 503 : 400, verified.problem);
    // Everybody with an account at the issuer gets this far: only whom the Gate names counts towards the limit.
    const wrong = claimProblem(oidc, verified.claims);
    if (wrong !== undefined) return refuse(400, wrong);
    if (!isWithinLimit(path)) return { status: 429, retryAfterSeconds: 60 };
    const judge = async (gate: Gate) => judgeIdTokenCall(gate, call, verified.claims, ports.now());
    return logged(path, ref, await take(found, judge, ports));
  };
}
