/** The rows that the address selects: searched, filtered, grouped and sorted. */
import { computed } from '@preact/signals';
import { type Row, rowKey } from '../../client/board/row.ts';
import { STATE_ORDER } from '../../client/explain/application.ts';
import { countOf } from '../../core/text/count.ts';
import { STATES } from '../elements/words.ts';
import { depthsOf } from './depths.ts';
import { query } from './route.ts';
import { rows } from './stream.ts';

/** Whether an object is in the cluster in the address; true if the address has none. */
export function isHere({ cluster: own }: { cluster?: string }): boolean {
  const { cluster } = query.value;
  return own === undefined || !cluster || own === cluster;
}

/** The rows filtered by everything but the state, so that a chosen state doesn't change the counts. */
const searchedRows = computed<Row[]>(() => {
  const { q = '', namespace } = query.value;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return [...rows.value.values()].filter(
    (row) => isHere(row) && (!namespace || row.namespace === namespace) && words.every((word) => hasWord(row, word)),
  );
});

/** Whether a word is in a name, namespace, version or sentence of the row, or is one of its labels, `label=value`. */
function hasWord(row: Row, word: string): boolean {
  const [label, value] = word.split('=');
  if (value !== undefined)
    return Object.entries(row.labels).some(([key, is]) => key.toLowerCase() === label && is.toLowerCase() === value);
  return [row.cluster, row.id, row.title, row.headline, row.runs?.version, row.track?.version, row.why].some((text) =>
    text?.toLowerCase().includes(word),
  );
}

export const rowsByState = computed(() => Map.groupBy(searchedRows.value, ({ state }) => state));

export const total = computed(() => searchedRows.value.length);

const rank = (row: Row) => STATE_ORDER.indexOf(row.state);

export const shownRows = computed<Row[]>(() => {
  const { state, group } = query.value;
  const found = state ? searchedRows.value.filter((row) => row.state === state) : searchedRows.value;
  const byState = (a: Row, b: Row) =>
    rank(a) - rank(b) ||
    a.name.localeCompare(b.name) ||
    a.namespace.localeCompare(b.namespace) ||
    (a.cluster ?? '').localeCompare(b.cluster ?? '');
  if (!group) return [...found].sort(byState);
  return [...found].sort(
    (a, b) =>
      groupRank(a, group) - groupRank(b, group) ||
      groupNameOf(a, group).localeCompare(groupNameOf(b, group)) ||
      byState(a, b),
  );
});

/** The group of a row. `group`: a field, or `label:<key>`. */
export function groupNameOf(row: Row, group: string): string {
  if (group === 'cluster') return row.cluster ?? '';
  if (group === 'namespace') return row.namespace;
  if (group === 'state') return STATES[row.state].text;
  if (group === 'stage') return stageOf(row) === 0 ? 'First' : `After ${countOf(stageOf(row), 'stage')}`;
  if (group.startsWith('label:')) return row.labels[group.slice(6)] ?? 'without it';
  return '';
}

function groupRank(row: Row, group: string): number {
  if (group === 'state') return rank(row);
  if (group === 'stage') return stageOf(row);
  return group.startsWith('label:') && row.labels[group.slice(6)] === undefined ? 1 : 0;
}

/** The number of stages before this one, on the longest path. */
function stageOf(row: Row): number {
  return depths.value.get(rowKey(row)) ?? 0;
}

const depths = computed(() =>
  depthsOf(
    [...rows.value].flatMap(([to, { cluster, after }]) => after.map((id) => ({ from: rowKey({ cluster, id }), to }))),
  ),
);

export const namespaces = computed(() =>
  [...new Set([...rows.value.values()].filter(isHere).map(({ namespace }) => namespace))].sort(),
);

/** The keys of labels with few values, by which rows can be grouped. */
export const groupings = computed(() => {
  const values = new Map<string, Set<string>>();
  for (const { labels } of rows.value.values()) {
    for (const [key, value] of Object.entries(labels)) values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  return [...values]
    .filter(([, found]) => found.size <= 50)
    .map(([key]) => key)
    .sort()
    .slice(0, 30);
});
