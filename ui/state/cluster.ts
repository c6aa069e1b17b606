/** The clusters of the page, and the cluster in the address. */
import { computed } from '@preact/signals';
import { query } from './route.ts';
import { hello } from './stream.ts';

/** The clusters of the page; empty if there is only one. */
export const clusters = computed(() => hello.value?.clusters ?? []);

/** The cluster in the address; undefined if the page has only one. */
export const cluster = computed(() => (clusters.value.length > 0 ? query.value.cluster : undefined));

/** The cluster in the address, if the page doesn't show it. */
export const unknownCluster = computed(() => {
  const { cluster: name } = query.value;
  if (!name || !hello.value) return undefined;
  const { context } = hello.value;
  const isKnown = clusters.value.length > 0 ? clusters.value.some((each) => each.name === name) : context === name;
  return isKnown ? undefined : name;
});
