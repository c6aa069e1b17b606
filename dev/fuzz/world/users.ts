/** Who writes in the fuzzer's cluster, and what they may. */
import type { UserInfo } from '../../../api/admission.ts';
import type { Settings } from '../../../api/ports.ts';

export const METACONTROLLER = 'system:serviceaccount:metacontroller:metacontroller';
export const KUSTOMIZE_CONTROLLER = 'system:serviceaccount:flux-system:kustomize-controller';
export const GARBAGE_COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
const NAMESPACE_CONTROLLER = 'system:serviceaccount:kube-system:namespace-controller';
const LISTED_PIPELINE = 'system:serviceaccount:ops:emergency';

export const SETTINGS: Settings = {
  onFailure: 'Continue',
  metacontrollerUser: METACONTROLLER,
  bypassServiceAccounts: [LISTED_PIPELINE],
  syncFieldManagers: ['kustomize-controller'],
  noCrossNamespaceRefs: false,
  copyImage: 'registry.example/rollout-hooks:1',
};

export const WRITERS = [
  'developer',
  'sre',
  'admin',
  'system:serviceaccount:apps:pipeline',
  LISTED_PIPELINE,
  KUSTOMIZE_CONTROLLER,
  METACONTROLLER,
  GARBAGE_COLLECTOR,
  NAMESPACE_CONTROLLER,
] as const;

/** The Gates of which somebody has the verb bypass; `*` of all. */
const BYPASS: Record<string, string[]> = {
  sre: ['shop/a', 'shop/b'],
  admin: ['*'],
  'system:serviceaccount:apps:pipeline': ['*'],
  [LISTED_PIPELINE]: ['*'],
};

const gatesOf = (user: string) => (Object.hasOwn(BYPASS, user) ? BYPASS[user]! : []);

export function may(user: UserInfo, { verb, namespace, name }: { verb: string; namespace: string; name: string }) {
  const gates = gatesOf(user.username);
  if (verb !== 'bypass') return user.username === 'admin';
  return gates.includes('*') || gates.includes(`${namespace}/${name}`);
}

/** docs/gates.md: "It takes the verb bypass on each closed Gate. A ServiceAccount is refused unless BYPASS_SERVICE_ACCOUNTS lists it." */
export function mayBreak(user: string, closed: readonly string[]): boolean {
  if (user.startsWith('system:serviceaccount:') && !SETTINGS.bypassServiceAccounts.includes(user)) return false;
  const gates = gatesOf(user);
  return closed.every((gate) => gates.includes('*') || gates.includes(gate));
}

/** docs/gates.md: "The garbage collector, and a namespace that is being deleted, pass." */
export const isSystemDeleter = (user: string) => user === GARBAGE_COLLECTOR || user === NAMESPACE_CONTROLLER;
