/** What the page has posted, as one of the requests that it can make. Anything else is refused: this is no proxy. */
import type { Gate } from '../../api/types.ts';
import type { Asked } from '../../client/board/requests.ts';
import type { TakeOverAsked } from '../../client/board/takeOver.ts';
import { isLegalTag } from '../../core/kube/tag.ts';

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
/** As Flux substitutes them. */
const VARIABLE = /^[_A-Za-z][_A-Za-z0-9]{0,252}$/;
const MOST_REASON = 1000;

type Fields = Record<string, unknown>;

/** undefined: it is none. */
export function askedOf(value: unknown): Asked | undefined {
  if (!isRecord(value) || (value.reason !== undefined && !isReason(value.reason))) return undefined;
  const reason = (value.reason as string | undefined) ?? '';
  const action = value.do;
  const rollout = refOf(value.rollout);
  const gate = refOf(value.gate);
  const rolloutGate = refOf(value.rolloutGate);
  const version = typeof value.version === 'string' && isLegalTag(value.version) ? value.version : undefined;
  const at = typeof value.at === 'string' && TIME.test(value.at) ? value.at : undefined;
  switch (action) {
    case 'deploy':
    case 'pin':
    case 'rollback':
    case 'bypass':
    case 'pass-gates':
      return rollout && version ? { do: action, rollout, version, reason } : undefined;
    case 'unpin':
    case 'retry':
    case 'unblock':
      return rollout && { do: action, rollout, reason };
    case 'approve':
    case 'reject':
      return rolloutGate && version ? { do: action, rolloutGate, version, reason } : undefined;
    case 'approve-at-gate':
      return gate && rollout && version ? { do: action, gate, rollout, version, reason } : undefined;
    case 'open':
    case 'close':
      return gate && { do: action, gate, reason, ...(version && { version }), ...(at && { at }) };
    case 'freeze':
      return gate && isRecord(value.spec) && typeof value.closes === 'boolean'
        ? { do: action, gate, reason, spec: value.spec as Gate['spec'], closes: value.closes, ...(at && { at }) }
        : undefined;
    default:
      return undefined;
  }
}

/** What is to be put under a Rollout, with what was chosen where it could not be seen. undefined: it is none. */
export function takeOverAskedOf(value: unknown): TakeOverAsked | undefined {
  if (!isRecord(value) || !isRecord(value.choices)) return undefined;
  const { kind, choices } = value;
  const ref = refOf(value);
  const { policy, variable, rollout, runs, ...others } = choices;
  const chosen = Object.entries({ policy, variable, rollout, runs }).filter(([, each]) => each !== undefined);
  const isChosen = Object.keys(others).length === 0 && chosen.every(([key, each]) => isChoice(key, each));
  if ((kind !== 'Kustomization' && kind !== 'OCIRepository') || !ref || !isChosen) return undefined;
  return { kind, ...ref, choices: Object.fromEntries(chosen) };
}

function isChoice(key: string, value: unknown): boolean {
  if (key === 'variable') return typeof value === 'string' && VARIABLE.test(value);
  return key === 'runs' ? typeof value === 'string' && isLegalTag(value) : isName(value);
}

function refOf(value: unknown): { namespace: string; name: string } | undefined {
  if (!isRecord(value)) return undefined;
  const { namespace, name } = value;
  return isName(namespace) && isName(name) ? { namespace, name } : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

function isReason(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MOST_REASON;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
