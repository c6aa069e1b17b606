/** Objects of a kind for tests of decisions, with the apiVersion in api/kinds.ts. */
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

/** An object of a kind with the given fields only. `path`: namespace, if any, and name: `shop/web`. */
export function objectOf<K extends KindName>(kind: K, path: string, rest?: Partial<Fields<K>>): ObjectOf<K>;
export function objectOf<K extends KindName>(kind: K, rest: Fields<K>): ObjectOf<K>;
export function objectOf(kind: KindName, of: string | object, rest?: Parameters<typeof kubeObject>[3]): object {
  const apiVersion = apiVersionOf(KINDS[kind]);
  return typeof of === 'string' ? kubeObject(apiVersion, kind, of, rest) : { apiVersion, kind, ...of };
}

/** An object of any kind. */
export function kubeObject(
  apiVersion: string,
  kind: string,
  path: string,
  { metadata, ...rest }: { metadata?: object; [field: string]: unknown } = {},
): KubeObject<any, any> {
  const [name = '', namespace] = path.split('/').reverse();
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }), ...metadata }, ...rest };
}

export const namespaceOf = (name: string, metadata: object = {}): KubeObject<any, any> =>
  kubeObject('v1', 'Namespace', name, { metadata });
