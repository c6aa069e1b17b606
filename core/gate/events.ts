/** The Events of a Gate: what has changed since its last status, and who has to be told. */
import { OPENED } from '../../api/conditions.ts';
import type { Gate, GateStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';

type StoredRequest = NonNullable<GateStatus['request']>;

/** @param forOthers what anybody may know of its state, whoever asked for it */
export function gateEvents({ status: before }: Gate, after: GateStatus, forOthers: string): NewEvent[] {
  const events: NewEvent[] = [];
  const add = (reason: string, message: string, about: string, order = 'a') =>
    events.push({ type: 'Normal', reason, message, about, order });
  const { request, planned } = after;
  if (request && !same(request, before?.request) && !same(request, before?.planned)) {
    add(request.action === 'open' ? 'OpenRequested' : 'CloseRequested', sentence(request, 'requested'), idOf(request));
  }
  if (planned && !same(planned, before?.planned)) {
    const reason = planned.action === 'open' ? 'OpenPlanned' : 'ClosePlanned';
    add(reason, sentence(planned, `planned for ${planned.at}`), idOf(planned));
  }
  const was = findCondition(before?.conditions, OPENED);
  const is = findCondition(after.conditions, OPENED);
  if (was && is && was.status !== is.status) {
    add(is.status === 'True' ? 'GateOpened' : 'GateClosed', is.message, is.lastTransitionTime, 'b');
    // Its message says who asked, and why: one message for what one person did.
    return events.map((event) => (event.order === 'b' ? { ...event, forOthers } : { ...event, quiet: true }));
  }
  return events;
}

function sentence({ action, by, reason, for: version }: StoredRequest, what: string): string {
  const who = by ? ` by ${by}` : '';
  const only = version ? ` for version '${version}'` : '';
  return `Gate ${action} ${what}${only}${who}${reason ? `: ${reason}` : ''}`;
}

function same(a: StoredRequest, b: StoredRequest | undefined): boolean {
  return b !== undefined && idOf(a) === idOf(b);
}

function idOf({ action, at, by = '', for: version = '' }: StoredRequest): string {
  return [action, at, by, version].join(' ');
}
