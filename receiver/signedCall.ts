/** A signed call, from its path to the annotations that carry the request to the Gate. */
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { ReceiverPorts } from '../api/ports.ts';
import { checkCall, judgeCall, type SignedCall } from '../core/receiver/signedCall.ts';
import { tokenBytes } from '../core/receiver/token.ts';
import { webhookPath } from '../core/receiver/webhookPath.ts';
import { createGateLookup } from './gateLookup.ts';
import { type CallOutcome, createLimits, refOf, take } from './take.ts';

const MAX_KNOWN = 1000;

type Secret = KubeObject<never, never> & { data?: Record<string, string> };

export function createCallHandler(ports: ReceiverPorts): (path: string, call: SignedCall) => Promise<CallOutcome> {
  const lookup = createGateLookup(ports.cluster, ports.now);
  const { isWithinLimit, logged } = createLimits(ports);
  const tokens = new KnownTokens();

  return async (path, call) => {
    const known = tokens.get(path);
    const checked = known && checkCall(known.token, path, call, ports.now());
    if (known && checked && 'problem' in checked) {
      // Costs an HMAC and no read, so it does not count towards the limit of those who have the token.
      return logged(path, known.gate, { status: 400, reason: checked.problem });
    }
    const found = await lookup(path);
    if (!found) return { status: 404 };
    if (!isWithinLimit(path)) return { status: 429, retryAfterSeconds: 60 };
    const ref = refOf(found);
    const outcome = await take(
      found,
      async (gate) => {
        if (!gate.spec.receiver?.secretRef) return { status: 404 };
        const token = await readToken(gate.spec.receiver.secretRef.name, ref, ports);
        if (token.length === 0) return { status: 503, reason: 'its Secret cannot be read, or has no token' };
        if (webhookPath(token, ref) !== path) return { status: 404, reason: 'the path belongs to an earlier token' };
        tokens.add(path, token, ref);
        return judgeCall(gate, token, path, call, ports.now());
      },
      ports,
    );
    return logged(path, ref, outcome);
  };
}

async function readToken(name: string, { namespace }: NamespacedName, { cluster }: ReceiverPorts): Promise<Uint8Array> {
  const secret = await cluster
    .get<Secret>({ apiVersion: 'v1', resource: 'secrets', namespace, name })
    .catch(() => undefined);
  return tokenBytes(secret?.data?.token);
}

/** A path is derived from its token: a token that once belonged to a path always will. */
class KnownTokens {
  readonly #byPath = new Map<string, { token: Uint8Array; gate: NamespacedName }>();

  get(path: string) {
    return this.#byPath.get(path);
  }

  add(path: string, token: Uint8Array, gate: NamespacedName): void {
    if (this.#byPath.size >= MAX_KNOWN) this.#byPath.clear();
    this.#byPath.set(path, { token, gate });
  }
}
