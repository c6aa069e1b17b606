/** Which clusters are shown, and which one an address is about. With one cluster there is no choice, and no name. */
import { computed } from '@preact/signals';
import { query } from './route.ts';
import { hello } from './stream.ts';

export const clusters = computed(() => hello.value?.clusters ?? []);

/** The one that the address names; undefined where there is only one. */
export const cluster = computed(() => (clusters.value.length > 0 ? query.value.cluster : undefined));

/** Of the address, and not among those that are shown. */
export const unknownCluster = computed(() => {
  const { cluster: name } = query.value;
  if (!name || !hello.value) return undefined;
  const { context } = hello.value;
  const isKnown = clusters.value.length > 0 ? clusters.value.some((each) => each.name === name) : context === name;
  return isKnown ? undefined : name;
});
