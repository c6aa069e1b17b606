/** The annotations of a Rollout in which the webhook records users. */
import { PIN_RECORD, REQUEST } from '../../api/annotations.ts';

const AT = '2026-03-01T11:00:00Z';

/** The record of one-shot requests of these users, by key: `force-deploy`. */
export function requestedBy(users: Readonly<Record<string, string>>, { id = 'r', at = AT } = {}) {
  const records = Object.entries(users).map(([key, by]) => [key, { id, by, at }]);
  return { [REQUEST]: JSON.stringify(Object.fromEntries(records)) };
}

/** The record of a pin. */
export function pinnedBy(by: string, version: string, at = AT) {
  return { [PIN_RECORD]: JSON.stringify({ version, by, at }) };
}
