/** Keyboard shortcuts, of all pages and of the current one. */
import { go, linkTo, route } from './route.ts';
import { nextTheme } from './theme.ts';

type Handler = (event: KeyboardEvent) => void;

const own = new Map<string, Handler>();
let pressedGAt = 0;

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
    if (event.timeStamp - pressedGAt < 1000) {
      pressedGAt = 0;
      const { board: b, gates: g, promotion: p, adopt: a } = linkTo;
      const to = { b, g, p, a }[event.key];
      if (to) return go(to);
    }
    const handler = own.get(event.key) ?? everywhere[event.key];
    if (!handler) return;
    handler(event);
  });
  const everywhere: Record<string, Handler> = {
    g: (event) => {
      pressedGAt = event.timeStamp;
    },
    t: nextTheme,
    '?': showHelp,
    u: () => go('kind' in route.value && route.value.kind === 'gate' ? linkTo.gates : linkTo.board),
  };
}
