/** Keyboard shortcuts, of all pages and of the current one. */
import { go, linkTo, route } from './route.ts';
import { nextTheme } from './theme.ts';

type Handler = (event: KeyboardEvent) => void;

const own = new Map<string, Handler>();
/** Whether the last key was `g`: the next one then names a page. Without a time limit, which a slow browser exceeds. */
let goesToPage = false;

/** Adds shortcuts, and returns the function that removes them. */
export function onKeys(handlers: Record<string, Handler>): () => void {
  for (const [key, handler] of Object.entries(handlers)) own.set(key, handler);
  return () => {
    for (const [key, handler] of Object.entries(handlers)) if (own.get(key) === handler) own.delete(key);
  };
}

export function listenToKeys(showHelp: () => void): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
    if (target.matches('input, textarea, select, [contenteditable]')) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (document.querySelector('dialog[open]')) return;
    if (goesToPage) {
      goesToPage = false;
      const { board: b, gates: g, promotion: p, adopt: a } = linkTo;
      const to = { b, g, p, a }[event.key];
      if (to) return go(to);
    }
    const handler = own.get(event.key) ?? everywhere[event.key];
    if (!handler) return;
    handler(event);
  });
  const everywhere: Record<string, Handler> = {
    g: () => {
      goesToPage = true;
    },
    t: nextTheme,
    '?': showHelp,
    u: () => go('kind' in route.value && route.value.kind === 'gate' ? linkTo.gates : linkTo.board),
  };
}
