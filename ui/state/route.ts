/** What the page shows is its address: a link, a reload and the back button show the same. */
import { computed, signal } from '@preact/signals';

export type Route =
  | { page: 'board' }
  | { page: 'rollout' | 'gate'; id: string }
  | { page: 'object'; kind: string; id: string }
  | { page: 'gates' }
  | { page: 'promotion' }
  | { page: 'take-over' }
  | { page: 'unknown'; path: string };

const address = signal(location.pathname + location.search);
window.addEventListener('popstate', () => {
  address.value = location.pathname + location.search;
});

export const route = computed<Route>(() => {
  const parts = (address.value.split('?')[0] ?? '').split('/').filter(Boolean).map(decodeURIComponent);
  const [page, namespace, name] = parts;
  if (!page) return { page: 'board' };
  if ((page === 'rollout' || page === 'gate') && namespace && name && parts.length === 3)
    return { page, id: `${namespace}/${name}` };
  if ((page === 'gates' || page === 'promotion' || page === 'take-over') && parts.length === 1) return { page };
  if (page && namespace && name && parts.length === 3)
    return { page: 'object', kind: page, id: `${namespace}/${name}` };
  return { page: 'unknown', path: address.value };
});

export const query = computed(() => new URLSearchParams(address.value.split('?')[1] ?? ''));

export function go(to: string, { replace = false } = {}): void {
  if (to === address.value) return;
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = to;
  if (!replace) window.scrollTo(0, 0);
}

/** Typing into a filter makes no step to go back to. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const next = new URLSearchParams(query.value);
  for (const [key, value] of Object.entries(changes)) {
    if (value) next.set(key, value);
    else next.delete(key);
  }
  const text = next.toString();
  go(`${address.value.split('?')[0]}${text ? `?${text}` : ''}`, { replace: true });
}

export const linkTo = {
  board: '/',
  gates: '/gates',
  promotion: '/promotion',
  takeOver: '/take-over',
  rollout: (id: string) => `/rollout/${id}`,
  gate: (id: string) => `/gate/${id}`,
  object: ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) =>
    `/${kind.toLowerCase()}/${namespace}/${name}`,
};

/** Links are links: only a plain click stays in this document. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a[href^="/"]');
  if (
    !link ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  event.preventDefault();
  go(link.getAttribute('href')!);
}
