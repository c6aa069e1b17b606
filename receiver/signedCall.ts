/** A signed call, from its path to the annotations that carry the request to the Gate. */
import { GATES } from '../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../api/kubernetes.ts';
import type { ReceiverPorts } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { checkCall, judgeCall, type SignedCall } from '../core/receiver/signedCall.ts';
import { tokenBytes } from '../core/receiver/token.ts';
import { webhookPath } from '../core/receiver/webhookPath.ts';
import { createCallLimit } from './callLimit.ts';
import { createGateLookup } from './gateLookup.ts';

/** Another replica, or a person, may write the Gate in between. */
const ATTEMPTS = 4;
/** Per path and process: calls with the token, and all calls while the token is not known. Each costs reads. */
const CALLS_PER_MINUTE = 60;
const LOGGED_PER_MINUTE = 10;
const MAX_KNOWN = 1000;

export interface CallOutcome {
  status: 200 | 400 | 404 | 429 | 503;
  retryAfterSeconds?: number;
  /** For our log. */
  reason?: string;
}

type Secret = KubeObject<never, never> & { data?: Record<string, string> };

export function createCallHandler(ports: ReceiverPorts): (path: string, call: SignedCall) => Promise<CallOutcome> {
  const lookup = createGateLookup(ports.cluster, ports.now);
  const isWithinLimit = createCallLimit(ports.now, CALLS_PER_MINUTE);
  const isLogged = createCallLimit(ports.now, LOGGED_PER_MINUTE);
  const tokens = new KnownTokens();

  /** Callers get an empty answer: only the log says why. Whoever knows the path must not flood it. */
  const logged = (path: string, { namespace, name }: NamespacedName, outcome: CallOutcome): CallOutcome => {
    const { status, reason } = outcome;
    if (reason && isLogged(path)) {
      ports.log.warn({ gate: `${namespace}/${name}`, status }, `signed call refused: ${reason}`);
    }
    return outcome;
  };

  return async (path, call) => {
    const known = tokens.get(path);
    const checked = known && checkCall(known.token, path, call, ports.now());
    if (known && checked && 'problem' in checked) {
      // Costs an HMAC and no read, so it does not count towards the limit of those who have the token.
      return logged(path, known.gate, { status: 400, reason: checked.problem });
    }
    const gate = await lookup(path);
    if (!gate) return { status: 404 };
    if (!isWithinLimit(path)) return { status: 429, retryAfterSeconds: 60 };
    return logged(path, refOf(gate), await takeCall(gate, path, call, ports, tokens));
  };
}

async function takeCall(
  found: Gate,
  path: string,
  call: SignedCall,
  ports: ReceiverPorts,
  tokens: KnownTokens,
): Promise<CallOutcome> {
  const ref = refOf(found);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Read again on each attempt: the call may have been used in the meantime.
    const gate = attempt === 0 ? found : await ports.cluster.get<Gate>({ ...GATES, ...ref });
    if (!gate?.spec.receiver) return { status: 404 };
    if (gate.metadata.deletionTimestamp) return { status: 503, reason: 'the Gate is being deleted' };
    const token = await readToken(gate, ref, ports);
    if (token.length === 0) return { status: 503, reason: 'its Secret cannot be read, or has no token' };
    if (webhookPath(token, ref) !== path) return { status: 404, reason: 'the path belongs to an earlier token' };
    tokens.add(path, token, ref);
    const judgement = judgeCall(gate, token, path, call, ports.now());
    if (judgement.status !== 200) return judgement;
    if ((await ports.writer.annotate(gate, judgement.annotations)) === 'stored') return { status: 200 };
  }
  return { status: 503, reason: 'the Gate was being written by others', retryAfterSeconds: 1 };
}

async function readToken(
  { spec }: Gate,
  { namespace }: NamespacedName,
  { cluster }: ReceiverPorts,
): Promise<Uint8Array> {
  const name = spec.receiver?.secretRef.name ?? '';
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

const refOf = ({ metadata }: Gate): NamespacedName => ({ namespace: metadata.namespace!, name: metadata.name! });
