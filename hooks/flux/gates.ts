/** Reads the Gates of a Flux object that its decorator doesn't relate. */
import type { FluxObject } from '../../api/flux.ts';
import { GATES } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { type Gating, gatingOf } from '../../core/admission/hold.ts';
import { type RefRules, recordedNames } from '../../core/admission/requiredGates.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';

/** Gates that are read one by one. For objects that name more, all are listed. */
const MAX_READS = 3;
/** How long one read serves all objects, in milliseconds. */
const SHARED_MS = 1000;
/** How old a read may be where the object's marks contradict it: a freeze may have marked the object since. */
const DOUBTED_MS = 200;

/** The object's Gates, at most a second old, and what they mean for the report on it. */
export async function readGating(
  object: FluxObject,
  call: Pick<HookCall, 'now' | 'cluster' | 'recent'>,
  rules: RefRules,
): Promise<{ gating: Gating; gates: Gate[] }> {
  const refs = recordedNames(object, rules);
  const read = async (maxAgeMs: number) => {
    const gates = await readGates(refs, maxAgeMs, call);
    return {
      gates,
      gating: gatingOf(object, new Map(gates.map((gate) => [refKey(identityOf(gate)), gate])), call.now, rules),
    };
  };
  const known = await read(SHARED_MS);
  return known.gating.isMarked || refs.length === 0 ? known : read(DOUBTED_MS);
}

/** The Gates that exist, at most `maxAgeMs` old (0: as they are now). A list of all may be a second old. */
export async function readGates(
  refs: readonly NamespacedName[],
  maxAgeMs: number,
  { cluster, recent }: Pick<HookCall, 'cluster' | 'recent'>,
): Promise<Gate[]> {
  if (refs.length > MAX_READS) {
    // Whatever is asked for: a tenant can name many Gates on many objects.
    const wanted = new Set(refs.map(refKey));
    const all = await recent.within(SHARED_MS, 'gates', () => cluster.list<Gate>(GATES));
    return all.filter((gate) => wanted.has(refKey(identityOf(gate))));
  }
  const get = (ref: NamespacedName) => () => cluster.get<Gate>({ ...GATES, ...ref });
  const found = await Promise.all(refs.map((ref) => recent.within(maxAgeMs, `gate ${refKey(ref)}`, get(ref))));
  return found.filter((gate) => gate !== undefined);
}
