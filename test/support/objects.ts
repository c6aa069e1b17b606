/** Objects of a kind for tests of decisions: what a test says of one, under the apiVersion that api/kinds.ts has for it. */
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { apiVersionOf, KINDS, type KindName } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type {
  ClusterRolloutBudget,
  ClusterRolloutSchedule,
  FluxBinding,
  Gate,
  HealthCheck,
  MetricProvider,
  Rollout,
  RolloutBudget,
  RolloutGate,
  RolloutSchedule,
} from '../../api/types.ts';

interface Typed {
  Rollout: Rollout;
  RolloutGate: RolloutGate;
  RolloutSchedule: RolloutSchedule;
  ClusterRolloutSchedule: ClusterRolloutSchedule;
  RolloutBudget: RolloutBudget;
  ClusterRolloutBudget: ClusterRolloutBudget;
  HealthCheck: HealthCheck;
  MetricProvider: MetricProvider;
  FluxBinding: FluxBinding;
  Gate: Gate;
  ImagePolicy: ImagePolicy;
}
type ObjectOf<K extends KindName> = K extends keyof Typed ? Typed[K] : FluxObject;

type Fields<K extends KindName> = Omit<ObjectOf<K>, 'apiVersion' | 'kind'>;

/** An object of a kind, with what is said of it and nothing else. `path`: its namespace, where it has one, and its name: `shop/web`. */
export function objectOf<K extends KindName>(kind: K, path: string, rest?: Partial<Fields<K>>): ObjectOf<K>;
export function objectOf<K extends KindName>(kind: K, rest: Fields<K>): ObjectOf<K>;
export function objectOf(kind: KindName, of: string | object, more: { metadata?: object } = {}): object {
  const base = { apiVersion: apiVersionOf(KINDS[kind]), kind };
  if (typeof of !== 'string') return { ...base, ...of };
  const [name, namespace] = of.split('/').reverse();
  return { ...base, ...more, metadata: { name, ...(namespace !== undefined && { namespace }), ...more.metadata } };
}

export const namespaceOf = (name: string, metadata: object = {}): KubeObject<any, any> => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...metadata },
});
