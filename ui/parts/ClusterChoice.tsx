/** A select for the cluster in the address; absent with one cluster. */
import { clusters } from '../state/cluster.ts';
import { query, setQuery } from '../state/route.ts';

/** `none`: the text of the option without a cluster. */
export function ClusterChoice({ none }: { none: string }) {
  if (clusters.value.length === 0) return null;
  return (
    <select
      class="choice"
      aria-label="Cluster"
      value={query.value.cluster ?? ''}
      onChange={(event) => setQuery({ cluster: event.currentTarget.value })}
    >
      <option value="">{none}</option>
      {clusters.value.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
