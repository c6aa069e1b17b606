import { signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The rendered width of an element. */
export function useWidth(element: RefObject<Element | null>, initial: number): number {
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

const NARROW = matchMedia('(max-width: 760px)');

/** Whether the window is as narrow as a phone. */
export const isNarrow = signal(NARROW.matches);
NARROW.addEventListener('change', (event) => {
  isNarrow.value = event.matches;
});
