/** Commands for the cluster and the user of this command, which the kubeconfig's current context may not have. */
import { withFlags } from '../../client/actions/lines.ts';
import type { ConnectionFlags } from '../../connection/kube/kubeconfig.ts';

/** The text with the connection flags in each of its command lines: after the program, before all else. */
export function forSameCluster(text: string, flags: ConnectionFlags): string {
  const { kubeconfig, context, cluster, user, as, asGroup = [] } = flags;
  const given = Object.entries({ kubeconfig, context, cluster, user, as });
  const words = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return withFlags(text, [...words, ...asGroup.flatMap((group) => ['--as-group', group])]);
}
