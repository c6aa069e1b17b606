/** Gates that may select the objects of a namespace, listed live: no annotation on the object says which they are. */
import { SELECTS_LABEL } from '../api/annotations.ts';
import { NAMESPACES } from '../api/kinds.ts';
import type { WebhookCall } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { isTruncated, reachesBeyond, selectingGateLists } from '../core/gate/selects.ts';
import type { GateSelectors } from '../core/rollout/evaluation/gatesToPass.ts';

type SelectsLabel = Parameters<typeof selectingGateLists>[1];

/** Of Flux objects, where the label is not given; see isTruncated. */
export async function listSelecting(
  namespace: string,
  { cluster }: WebhookCall,
  label: SelectsLabel = SELECTS_LABEL,
): Promise<Gate[][]> {
  return Promise.all(selectingGateLists(namespace, label).map((list) => cluster.list<Gate>(list)));
}

/** Of Rollouts or Flux objects, as the label says. */
export async function readSelectors(namespace: string, call: WebhookCall, label: SelectsLabel): Promise<GateSelectors> {
  const lists = await listSelecting(namespace, call, label);
  const gates = lists.flat();
  const reaching = gates.some(({ spec }) => reachesBeyond(spec?.selects));
  const namespaceLabels = (reaching ? await readLabels(namespace, call) : undefined) ?? {};
  return { gates, namespaceLabels, truncated: isTruncated(lists) };
}

/** Of the Namespace; undefined where it has none. */
export async function readLabels(
  namespace: string,
  { cluster }: WebhookCall,
): Promise<Record<string, string> | undefined> {
  const found = await cluster.get({ ...NAMESPACES, name: namespace });
  return found?.metadata.labels;
}
