/** The clusters that the page shows, and the one that the address names. A single cluster has no name. */
import { computed } from '@preact/signals';
import { query } from './route.ts';
import { hello } from './stream.ts';

export const clusters = computed(() => hello.value?.clusters ?? []);

/** The cluster that the address names; undefined where there is only one. */
export const cluster = computed(() => (clusters.value.length > 0 ? query.value.cluster : undefined));

/** The cluster that the address names, if the page doesn't show it. */
export const unknownCluster = computed(() => {
  const { cluster: name } = query.value;
  if (!name || !hello.value) return undefined;
  const { context } = hello.value;
  const isKnown = clusters.value.length > 0 ? clusters.value.some((each) => each.name === name) : context === name;
  return isKnown ? undefined : name;
});
