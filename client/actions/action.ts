/** An action: one write that a user can make, with its label, what comes of it and the rights that it takes. */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';

/** Its verb: that of its command, where there is one. */
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
  | 'continue'
  | 'freeze'
  | 'open'
  | 'close'
  | 'resume'
  | 'create'
  | 'unrequire';

/** For a SelfSubjectAccessReview. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  namespace: string;
  name: string;
}

/** What is posted by the page, and what a command line asks for. Plain JSON. */
export interface ActionRequest {
  type: ActionType;
  /** The object that it writes. */
  object: NamespacedName & { kind: KindName };
  version?: string;
  /** At a budget: the image that the version is a tag of, where that may be several. */
  image?: string;
  /** At a Gate: the Rollout whose version it is. */
  rollout?: NamespacedName;
  /** In `spec.gates` of a Rollout. */
  gate?: NamespacedName;
  /** Not now, but then: RFC 3339. */
  at?: string;
  /** Of a freeze: the Gate that it creates. */
  spec?: Gate['spec'];
  reason?: string;
}

export interface Action {
  /** Unique in a list. */
  id: string;
  /** Without the reason. */
  request: ActionRequest;
  /** Of the button, in the imperative. */
  label: string;
  /** Of the button that sends it. */
  submit: string;
  /** What comes of it, in sentences. */
  text: string;
  rights: Right[];
  /** The object that it writes, where that could be read. */
  found?: KubeObject<any, any>;
  /** What the user has to type first. */
  confirm?: string;
  /** The likely one. */
  primary?: true;
  /** It goes past a closed Gate. */
  danger?: true;
  needsReason?: true;
  /** Id of the step that it removes. */
  step?: string;
}

export function rightOn(verb: string, kind: KindName, { namespace, name }: NamespacedName): Right {
  const { group, resource } = KINDS[kind];
  return { verb, group, resource, namespace, name };
}

export function rightKey({ verb, resource, namespace, name }: Right): string {
  return `${verb} ${resource} ${namespace ? `${namespace}/` : ''}${name}`;
}
