/**
 * Decorator of every governed Flux kind: marks objects whose Gates have closed or opened, for the webhook, which
 * suspends and resumes them in that write. Its requests carry the object's Gates and Namespace, and nothing else.
 */
import { SELECTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS } from '../../api/kinds.ts';
import type { DecoratorResponse } from '../../api/metacontroller.ts';
import type { Gate } from '../../api/types.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { byRefKey, identityOf, sortedKeys, without } from '../../core/kube/names.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { type GateContext, gatesInAnnotation } from '../../core/objectGates/objectGates.ts';
import { holdMarks, TOO_MANY_MARKS } from '../../core/suspension/holdMarks.ts';
import { recentGates, refRules } from '../../live/gateReads.ts';
import { homeLabels, homeRules, namedRules } from '../customizeRules.ts';
import { type DecoratorHook, resyncAfter } from '../hook.ts';

/**
 * How many namespaces of named Gates have a rule each, because every event is matched against every rule. Gates of
 * further namespaces are read live.
 */
const MAX_GATE_NAMESPACES = 3;

/** Until the next sync after a write, which Metacontroller silently drops if it meets a conflict. */
const WRITTEN_REQUEUE_SECONDS = 2;
/**
 * How soon a Gate that isn't related yet is read again: its events trigger no sync, because the rules are as old as the
 * object's generation (docs/facts.md, M6).
 */
const UNRELATED_REQUEUE_SECONDS = 2;
/** The same for an object whose Gates are in more namespaces than have rules: some are never related. */
const NEVER_RELATED_REQUEUE_SECONDS = 10;
/** How old an unrelated Gate may be: one read serves all its objects. */
const UNRELATED_MAX_AGE_MS = 1000;
/**
 * The longest until the next sync of an object that a Gate may hold.
 * Metacontroller drops an event if it can't ask which Gates concern the object, as while this server restarts.
 */
const LONGEST_REQUEUE_SECONDS = 60;
/**
 * Until the sync after a Gate opens or closes by itself. Normally the change of the Gate's status triggers it earlier.
 */
const EDGE_DELAY_MS = 1000;

/** Bytes of a request that is read: the object takes at most 1.5 MiB, as etcd does, and a Gate a few KiB. */
const MAX_BYTES = 3 * 1024 * 1024;

export const holdHook: DecoratorHook<FluxObject> = {
  maxBytes: MAX_BYTES,

  async customize({ parent }, { cluster, settings }) {
    const { namespace = '' } = parent.metadata;
    const named = namedRules(GATES, gatesInAnnotation(parent, refRules(settings)).refs);
    return {
      relatedResources: [
        ...selectingGateRules(namespace, SELECTS_LABEL),
        ...(await homeRules(namespace, SELECTS_LABEL, cluster)),
        ...named.slice(0, MAX_GATE_NAMESPACES),
      ],
    };
  },

  async sync({ object, related }, { now, settings, cluster, sharedReads }) {
    if (object.metadata.deletionTimestamp) return { attachments: [] };
    const rules = refRules(settings);
    const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
    const relatedRefs = relatedGates.map(identityOf);
    const { refs } = gatesInAnnotation(object, rules);
    const unrelatedRefs = without(refs, relatedRefs);
    const isNeverRelated = namedRules(GATES, refs).length > MAX_GATE_NAMESPACES;
    const [namespaceLabels, unrelatedGates] = await Promise.all([
      homeLabels(object.metadata.namespace ?? '', related, relatedGates, cluster),
      recentGates(unrelatedRefs, UNRELATED_MAX_AGE_MS, { cluster, sharedReads }),
    ]);
    const gates = byRefKey([...relatedGates, ...unrelatedGates]);
    const context: GateContext = { ...rules, gates, namespaceLabels, now, candidates: sortedKeys(relatedRefs) };
    const { annotations, isBypassing, requeueAt } = holdMarks(object, context);
    const unrelatedRequeue = isNeverRelated ? NEVER_RELATED_REQUEUE_SECONDS : UNRELATED_REQUEUE_SECONDS;
    const isWritten = Object.keys(annotations).length > 0;
    return {
      attachments: [],
      ...(isWritten && { annotations }),
      ...resyncAfter([
        isWritten && !isBypassing ? WRITTEN_REQUEUE_SECONDS : undefined,
        unrelatedGates.length > 0 ? unrelatedRequeue : undefined,
        relatedGates.length + unrelatedRefs.length > 0 ? LONGEST_REQUEUE_SECONDS : undefined,
        requeueAt === undefined ? undefined : secondsUntil(requeueAt + EDGE_DELAY_MS, now),
      ]),
    };
  },

  /** The answer to a request too large to be read: the webhook lists the Gates itself. */
  answerTooLarge(): DecoratorResponse {
    return { attachments: [], annotations: TOO_MANY_MARKS, resyncAfterSeconds: LONGEST_REQUEUE_SECONDS };
  },
};
