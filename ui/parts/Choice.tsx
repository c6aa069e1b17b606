/** A select for a value in the address, and the one for the cluster, which is absent with one cluster. */
import { clusters } from '../state/cluster.ts';
import { query, setQuery } from '../state/route.ts';
import { Select } from './Select.tsx';

interface ChoiceProps {
  label: string;
  name: 'cluster' | 'namespace' | 'group';
  options: (readonly [string, string])[];
}

export function Choice({ name, ...select }: ChoiceProps) {
  return (
    <Select
      class="choice"
      value={query.value[name] ?? ''}
      onChange={(value) => setQuery({ [name]: value })}
      {...select}
    />
  );
}

/** `none`: the text of the option without a cluster. */
export function ClusterChoice({ none }: { none: string }) {
  if (clusters.value.length === 0) return null;
  const names = clusters.value.map(({ name }) => [name, name] as const);
  return <Choice label="Cluster" name="cluster" options={[['', none], ...names]} />;
}
