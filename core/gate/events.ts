/** What became of a Gate since its last status, in words for Events. */
import { OPENED } from '../../api/conditions.ts';
import type { Gate, GateStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';

export interface News {
  reason: 'GateOpened' | 'GateClosed' | 'OpenRequested' | 'CloseRequested' | 'OpenPlanned' | 'ClosePlanned';
  message: string;
  /** The same for the same change. */
  key: string;
}

type StoredRequest = NonNullable<GateStatus['request']>;

export function gateNews({ status: before }: Gate, after: GateStatus): News[] {
  const news: News[] = [];
  const { request, planned } = after;
  if (request && !same(request, before?.request) && !same(request, before?.planned)) {
    const reason = request.action === 'open' ? 'OpenRequested' : 'CloseRequested';
    news.push({ reason, message: sentence(request, 'requested'), key: `${reason} ${keyOf(request)}` });
  }
  if (planned && !same(planned, before?.planned)) {
    const reason = planned.action === 'open' ? 'OpenPlanned' : 'ClosePlanned';
    news.push({ reason, message: sentence(planned, `planned for ${planned.at}`), key: `${reason} ${keyOf(planned)}` });
  }
  const was = findCondition(before?.conditions, OPENED);
  const is = findCondition(after.conditions, OPENED);
  if (was && is && was.status !== is.status) {
    const reason = is.status === 'True' ? 'GateOpened' : 'GateClosed';
    news.push({ reason, message: is.message, key: `${reason} ${is.lastTransitionTime}` });
  }
  return news;
}

function sentence({ action, by, reason, for: version }: StoredRequest, what: string): string {
  const who = by ? ` by ${by}` : '';
  const only = version ? ` for version '${version}'` : '';
  return `Gate ${action} ${what}${only}${who}${reason ? `: ${reason}` : ''}`;
}

function same(a: StoredRequest, b: StoredRequest | undefined): boolean {
  return b !== undefined && keyOf(a) === keyOf(b);
}

function keyOf({ action, at, by = '', for: version = '' }: StoredRequest): string {
  return [action, at, by, version].join(' ');
}
