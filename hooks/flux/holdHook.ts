/**
 * Decorator of every governed Flux kind that suspends what a closed Gate holds, and resumes what its Gates release.
 * Its requests have the object's Gates and Namespace, and nothing else.
 */
import { SELECTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { DecoratorRequest, DecoratorResponse } from '../../api/metacontroller.ts';
import type { HookCall, Settings } from '../../api/ports.ts';
import type { Gate } from '../../api/types.ts';
import { holdMarks, TOO_MANY_MARKS } from '../../core/admission/gateMarks.ts';
import { type GateContext, gatesInAnnotation, type RefRules } from '../../core/admission/objectGates.ts';
import { TOO_MANY } from '../../core/gate/gateRefs.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { byRefKey, identityOf, refKey, without } from '../../core/kube/names.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { homeLabels, homeRules, namedRules } from '../customizeRules.ts';
import { type DecoratorHook, resyncAfter } from '../hook.ts';

/** Each namespace is one rule, matched against each event: Gates of further namespaces are read live. */
const MAX_GATE_NAMESPACES = 3;

/** Metacontroller drops a decorator's write that meets a conflict, silently. */
const RETRY_SECONDS = 2;
/**
 * How soon a Gate that isn't related yet is read again: its events trigger no sync, because the rules are as old as the
 * object's generation (docs/facts.md, M6).
 */
const UNRELATED_SECONDS = 2;
/**
 * The longest until the next sync of an object that a Gate may hold.
 * Metacontroller drops an event if it can't ask which Gates concern the object, as while this server restarts.
 */
const LONGEST_SECONDS = 60;
/** Normally the Gate's status change triggers a sync; this resync is the fallback. */
const AFTER_EDGE_MS = 1000;

/** Bytes of a request that is read: the object takes at most 1.5 MiB, as etcd does, and a Gate a few KiB. */
const MAX_BYTES = 3 * 1024 * 1024;

export const holdHook: DecoratorHook = {
  maxBytes: MAX_BYTES,

  async customize({ parent }, { cluster, settings }) {
    const { namespace = '' } = parent.metadata;
    const named = namedRules(GATES, gatesInAnnotation(parent, rulesOf(settings)).refs);
    return {
      relatedResources: [
        ...selectingGateRules(namespace, SELECTS_LABEL),
        ...(await homeRules(namespace, SELECTS_LABEL, cluster)),
        ...named.slice(0, MAX_GATE_NAMESPACES),
      ],
    };
  },

  async sync(request, { now, settings, cluster, recent }) {
    const { object, related } = request as DecoratorRequest<FluxObject>;
    if (object.metadata.deletionTimestamp) return { attachments: [] };
    const rules = rulesOf(settings);
    const sent = objectsOf<Gate>(related, KINDS.Gate);
    const unsent = without(gatesInAnnotation(object, rules).refs, [...sent.map(identityOf), TOO_MANY]);
    const [labels, read] = await Promise.all([
      homeLabels(object.metadata.namespace ?? '', related, sent, cluster),
      recentGates(unsent, 0, { cluster, recent }),
    ]);
    const gates = byRefKey([...sent, ...read]);
    const context: GateContext = { ...rules, gates, namespaceLabels: labels, now, candidates: sent.map(identityOf) };
    const { annotations, isBypassing, until } = holdMarks(object, context);
    const isWritten = Object.keys(annotations).length > 0;
    return {
      attachments: [],
      ...(isWritten && { annotations }),
      ...resyncAfter([
        isWritten && !isBypassing ? RETRY_SECONDS : undefined,
        read.length > 0 ? UNRELATED_SECONDS : undefined,
        sent.length + unsent.length > 0 ? LONGEST_SECONDS : undefined,
        until === undefined ? undefined : secondsUntil(until + AFTER_EDGE_MS, now),
      ]),
    };
  },

  /** The answer to a request too large to be read: the webhook lists the Gates itself. */
  unseen(): DecoratorResponse {
    return { attachments: [], annotations: TOO_MANY_MARKS, resyncAfterSeconds: LONGEST_SECONDS };
  },
};

const rulesOf = ({ noCrossNamespaceRefs }: Settings): RefRules => ({ ownNamespaceOnly: noCrossNamespaceRefs });

/** Gates that are read one by one. For objects that name more, all are listed. */
const MAX_READS = 3;
/** How old a list of all Gates may be, in milliseconds. */
const LIST_MS = 1000;

/** The Gates that exist, at most `maxAgeMs` old (0: as they are now). A list of all may be a second old. */
export async function recentGates(
  refs: readonly NamespacedName[],
  maxAgeMs: number,
  { cluster, recent }: Pick<HookCall, 'cluster' | 'recent'>,
): Promise<Gate[]> {
  if (refs.length > MAX_READS) {
    // Whatever age is requested: a tenant can name many Gates on many objects.
    const wanted = new Set(refs.map(refKey));
    const all = await recent.within(LIST_MS, 'gates', () => cluster.list<Gate>(GATES));
    return all.filter((gate) => wanted.has(refKey(identityOf(gate))));
  }
  const get = (ref: NamespacedName) => () => cluster.get<Gate>({ ...GATES, ...ref });
  const found = await Promise.all(refs.map((ref) => recent.within(maxAgeMs, `gate ${refKey(ref)}`, get(ref))));
  return found.filter((gate) => gate !== undefined);
}
