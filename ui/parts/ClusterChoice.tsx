/** A select for the cluster in the address; absent with one cluster. */
import { clusters } from '../state/cluster.ts';
import { query, setQuery } from '../state/route.ts';
import { Select } from './Select.tsx';

/** `none`: the text of the option without a cluster. */
export function ClusterChoice({ none }: { none: string }) {
  if (clusters.value.length === 0) return null;
  return (
    <Select
      class="choice"
      label="Cluster"
      value={query.value.cluster ?? ''}
      options={[['', none], ...clusters.value.map(({ name }) => [name, name] as const)]}
      onChange={(cluster) => setQuery({ cluster })}
    />
  );
}
