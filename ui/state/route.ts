/** The address as the state of the page, so that links, reloads and the back button work. */
import { computed, effect, signal } from '@preact/signals';
import type { Row } from '../../client/board/row.ts';
import { formatAddress, parseAddress, type Query, titleOf } from './address.ts';

const current = () => location.pathname + location.search;
const address = signal(current());
window.addEventListener('popstate', () => {
  address.value = current();
});

export const route = computed(() => parseAddress(address.value));
export const query = computed<Query>(() => route.value.query);

effect(() => {
  document.title = titleOf(route.value);
});

type How = 'step' | 'replace';

export function go(to: string): void {
  const { pathname } = location;
  move(to, 'step');
  if (location.pathname !== pathname) window.scrollTo(0, 0);
}

/** Sets values of the address, or removes empty ones. `replace`: without an entry in the browser's history. */
export function setQuery(changes: Query, how: How = 'step'): void {
  move(formatAddress({ ...route.peek(), query: { ...query.peek(), ...changes } }), how);
}

function move(to: string, how: How): void {
  if (to === address.peek()) return;
  if (how === 'replace') history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = to;
}

/** The cluster in the address, the default for links to objects. */
const here = () => query.peek().cluster;

export const linkTo = {
  board: '/',
  cluster: (cluster: string) => formatAddress({ page: 'board', query: { cluster } }),
  namespace: (namespace: string) => formatAddress({ page: 'board', query: { cluster: here(), namespace } }),
  gates: '/gates',
  promotion: '/promotion',
  /** The promotion page with a chosen stage, keeping the search. */
  stage: ({ cluster, id: stage }: Pick<Row, 'cluster' | 'id'>, release?: string) =>
    formatAddress({ page: 'promotion', query: { q: query.peek().q, cluster, stage, release } }),
  /** The promotion page without a chosen stage. */
  stages: () => formatAddress({ page: 'promotion', query: { q: query.peek().q } }),
  adopt: '/adopt',
  rollout: (id: string, query: Query = {}) =>
    formatAddress({ page: 'rollout', id, query: { cluster: here(), ...query } }),
  gate: (id: string, cluster = here()) => formatAddress({ page: 'object', kind: 'gate', id, query: { cluster } }),
  object: ({ kind, namespace, name }: { kind: string; namespace: string; name: string }, cluster = here()) =>
    formatAddress({ page: 'object', kind: kind.toLowerCase(), id: `${namespace}/${name}`, query: { cluster } }),
};

/** Follows a plain click on a link to another view without a page load, unless the link is marked as external. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a[href^="/"]');
  const isOther = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  const isLeaving = link?.getAttribute('rel') === 'external';
  if (!link || isLeaving || isOther || event.defaultPrevented || event.button !== 0) return;
  event.preventDefault();
  go(link.getAttribute('href')!);
}
