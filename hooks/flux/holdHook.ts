/**
 * Decorator of every governed Flux kind. It marks objects whose Gates have closed or opened; in that write, the webhook
 * suspends or resumes them. It relates only the object's Gates and Namespace.
 */
import { SELECTS_LABEL } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { GATES, KINDS } from '../../api/kinds.ts';
import type { DecoratorResponse } from '../../api/metacontroller.ts';
import type { Gate } from '../../api/types.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { byRefKey, identityOf, without } from '../../core/kube/names.ts';
import { objectsOf } from '../../core/kube/objectMap.ts';
import { secondsUntil } from '../../core/kube/time.ts';
import { type GateContext, gatesInAnnotation } from '../../core/objectGates/objectGates.ts';
import { holdMarks, tooManyMarks } from '../../core/suspension/stateTriggers.ts';
import { recentGates } from '../../live/gateReads.ts';
import { namedRules, namespaceRules, ownNamespaceLabels } from '../customizeRules.ts';
import { CONFLICT_REQUEUE_SECONDS, type DecoratorHook, resyncAfter } from '../hook.ts';

/**
 * The number of namespaces of named Gates for which there is a rule: every event is matched against every rule. Gates
 * of other namespaces are read live.
 */
const MAX_GATE_NAMESPACES = 3;

/**
 * The interval at which a Gate that isn't related yet is read: its events trigger no sync, because the rules are as old
 * as the object's generation (docs/facts.md, M6).
 */
const UNRELATED_REQUEUE_SECONDS = 2;
/** The interval for an object with Gates in more namespaces than have rules: some are never related. */
const NEVER_RELATED_REQUEUE_SECONDS = 10;
/**
 * The longest until the next sync of an object that a Gate may hold.
 * Metacontroller drops an event if its customize call fails, for instance while this server restarts.
 */
const LONGEST_REQUEUE_SECONDS = 60;
/**
 * The time to the sync after a Gate opens or closes by itself. Normally the change of the Gate's status triggers one
 * earlier.
 */
const EDGE_DELAY_MS = 1000;

/** The largest request that is read: etcd limits the object to 1.5 MiB, and a Gate has a few KiB. */
const MAX_BYTES = 3 * 1024 * 1024;

export const holdHook: DecoratorHook<FluxObject> = {
  maxBytes: MAX_BYTES,

  async customize({ parent }, { cluster, settings }) {
    const { namespace = '' } = parent.metadata;
    const named = namedRules(GATES, gatesInAnnotation(parent, settings).refs);
    return {
      relatedResources: [
        ...selectingGateRules(namespace, SELECTS_LABEL),
        ...(await namespaceRules(namespace, cluster)),
        ...named.slice(0, MAX_GATE_NAMESPACES),
      ],
    };
  },

  async sync({ object, related }, { now, settings, cluster, sharedReads }) {
    if (object.metadata.deletionTimestamp) return { attachments: [] };
    const relatedGates = objectsOf<Gate>(related, KINDS.Gate);
    const relatedRefs = relatedGates.map(identityOf);
    const { refs } = gatesInAnnotation(object, settings);
    const unrelatedRefs = without(refs, relatedRefs);
    const isNeverRelated = namedRules(GATES, refs).length > MAX_GATE_NAMESPACES;
    const [namespaceLabels, unrelatedGates] = await Promise.all([
      ownNamespaceLabels(object.metadata.namespace ?? '', related, relatedGates, cluster),
      recentGates(unrelatedRefs, { cluster, sharedReads }),
    ]);
    const gates = byRefKey([...relatedGates, ...unrelatedGates]);
    const { noCrossNamespaceRefs } = settings;
    const selectingGates = { gates: relatedGates, namespaceLabels };
    const context: GateContext = { noCrossNamespaceRefs, gates, selectingGates, now };
    const { annotations, isBypassing, requeueAt } = holdMarks(object, context);
    const unrelatedRequeue = isNeverRelated ? NEVER_RELATED_REQUEUE_SECONDS : UNRELATED_REQUEUE_SECONDS;
    const isWritten = Object.keys(annotations).length > 0;
    return {
      attachments: [],
      ...(isWritten && { annotations }),
      ...resyncAfter([
        isWritten && !isBypassing ? CONFLICT_REQUEUE_SECONDS : undefined,
        unrelatedGates.length > 0 ? unrelatedRequeue : undefined,
        relatedGates.length + unrelatedRefs.length > 0 ? LONGEST_REQUEUE_SECONDS : undefined,
        requeueAt === undefined ? undefined : secondsUntil(requeueAt + EDGE_DELAY_MS, now),
      ]),
    };
  },

  /**
   * If the request is too large to be read, marks the object: the webhook then decides, which lists the Gates itself.
   */
  answerTooLarge(now): DecoratorResponse {
    return { attachments: [], annotations: tooManyMarks(now), resyncAfterSeconds: LONGEST_REQUEUE_SECONDS };
  },
};
