/** The Events of a Gate: the changes since its last status. */
import { OPENED } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate, GateStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { type NewEvent, ORDER } from '../kube/events.ts';
import { formatTime } from '../kube/time.ts';

type StoredRequest = NonNullable<GateStatus['request']> & { for?: string };

const REQUEST_REASONS = {
  open: { requested: 'OpenRequested', planned: 'OpenPlanned' },
  close: { requested: 'CloseRequested', planned: 'ClosePlanned' },
};

/** @param forOthers the text for readers in other namespaces */
export function gateEvents({ status: before }: Gate, after: GateStatus, forOthers: string, now: EpochMs): NewEvent[] {
  const isAhead = ({ at }: StoredRequest) => at > formatTime(now);
  const requests = requestsIn(after);
  const known = requestsIn(before).map(idOf);
  const plan = before?.planned;
  const isCancelled = plan && isAhead(plan) && !requests.map(idOf).includes(idOf(plan));
  const fresh = requests.filter((request) => !known.includes(idOf(request)));
  const events = fresh.map((request): NewEvent => {
    const isPlanned = request !== after.request && isAhead(request);
    const text = sentence(request, isPlanned ? `planned for ${request.at}` : 'requested');
    const message = isCancelled && request.for === undefined ? `${text}; ${cancelText(plan)}` : text;
    const reason = REQUEST_REASONS[request.action][isPlanned ? 'planned' : 'requested'];
    return { type: 'Normal', reason, message, about: idOf(request), order: ORDER.gateRequest };
  });
  const was = findCondition(before?.conditions, OPENED);
  const is = findCondition(after.conditions, OPENED);
  if (!was || !is || was.status === is.status) return events;
  const reason = is.status === 'True' ? 'GateOpened' : 'GateClosed';
  const about = is.lastTransitionTime;
  // The message of the state has the user and the reason, so the request's own Event sends no notification.
  return [
    ...events.map((event) => ({ ...event, quiet: true })),
    { type: 'Normal', reason, message: is.message, about, order: ORDER.gateState, forOthers },
  ];
}

function sentence({ action, by, reason, for: version }: StoredRequest, what: string): string {
  const who = by ? ` by ${by}` : '';
  const only = version ? ` for version '${version}'` : '';
  return `Gate ${action} ${what}${only}${who}${reason ? `: ${reason}` : ''}`;
}

function requestsIn({ request, planned, exception }: GateStatus = {}): StoredRequest[] {
  return [request, planned, exception].filter((each) => each !== undefined);
}

/** The text about a planned request that a newer one cancels. */
export function cancelText({ action, at, by }: Pick<StoredRequest, 'action' | 'at' | 'by'>): string {
  return `cancels the ${action === 'open' ? 'opening' : 'closure'} planned for ${at}${by ? ` by ${by}` : ''}`;
}

function idOf({ action, at, by = '', for: version = '' }: StoredRequest): string {
  return [action, at, by, version].join(' ');
}
