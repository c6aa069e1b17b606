/** An action: one write that a user can make, with its label, its effect and the rights that it requires. */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import { refKey } from '../../core/kube/names.ts';
import type { Right } from '../explain/application.ts';
import type { FreezeRequest } from './writes/freeze.ts';
import type { ClosedSpan } from './writes/gateWrites.ts';

/** The kind of an action, usually the name of its command. */
export type ActionType =
  | 'deploy'
  | 'pin'
  | 'unpin'
  | 'rollback'
  | 'retry'
  | 'unblock'
  | 'withdraw'
  | 'approve'
  | 'reject'
  | 'bypass'
  | 'bypassRolloutGates'
  | 'continue'
  | 'freeze'
  | 'open'
  | 'close'
  | 'resume'
  | 'create'
  | 'unrequire';

/** A request for an action: posted by the page, or typed as a command. Plain JSON. */
export interface ActionRequest {
  type: ActionType;
  /** The object to write. */
  object: NamespacedName & { kind: KindName };
  version?: string;
  /** Only for a budget: the image of the version, if several are possible. */
  image?: string;
  /** Only for a Gate: the Rollout of the version. */
  rollout?: NamespacedName;
  /** The Gate in `spec.gates` of a Rollout. */
  gate?: NamespacedName;
  /** Only for a Gate: when it is closed, or from when on it is open. */
  span?: ClosedSpan;
  freeze?: FreezeRequest;
  reason?: string;
}

/** An action that a user can take, for a button or a command. */
export interface Action {
  /** The action's key, unique in a list. */
  id: string;
  /** The request without the reason. */
  request: ActionRequest;
  /** Label of the button, in the imperative. */
  label: string;
  /** Label of the button that sends the request. */
  submit: string;
  /** The effect, in sentences. */
  text: string;
  rights: Right[];
  /** Only for an approval at a Gate: the uid of the Rollout, whose approvals count; undefined if unknown. */
  rolloutUid?: string | undefined;
  /** The object to write, if it could be read. */
  found?: AnyObject;
  /** The state that the action is offered for, in words: in any other state the write is rejected. */
  basis?: string;
  /** The text that the user has to type first. */
  confirm?: string;
  /** Set on the most likely action. */
  primary?: true;
  /** Set if the action bypasses a closed Gate. */
  danger?: true;
  needsReason?: true;
  /** The id of the step that the action removes. */
  step?: string;
}

/** The right to `verb` on the object. */
export function rightOn(verb: string, kind: KindName, { namespace, name }: NamespacedName): Right {
  const { group, resource } = KINDS[kind];
  return { verb, group, resource, namespace, name };
}

/** The key of a right: `patch rollouts shop/web`. */
export function rightKey({ verb, resource, namespace, name }: Right): string {
  return `${verb} ${resource} ${refKey({ namespace, name })}`;
}

/**
 * The rights that the user lacks, `patch on rollouts shop/web and bypass on gates shop/freeze`; empty if none.
 * `rights`: the known rights by their keys; an unknown one counts as lacking.
 */
export function lackingText(needed: readonly Right[], rights: Readonly<Record<string, boolean | undefined>>): string {
  return needed
    .filter((right) => rights[rightKey(right)] !== true)
    .map(({ verb, resource, namespace, name }) => `${verb} on ${resource} ${refKey({ namespace, name: name || '*' })}`)
    .join(' and ');
}
