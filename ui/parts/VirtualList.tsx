/** A list of thousands of rows, of which a screenful is rendered. Known heights keep the scroll bar right. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

export interface ListItem {
  key: string;
  height: number;
  render: () => preact.ComponentChildren;
}

const OVERSCAN = 400;

const viewport: Signal<{ top: number; height: number }> = signal({ top: 0, height: window.innerHeight });
let isRequested = false;
const updateViewport = () => {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(() => {
    isRequested = false;
    viewport.value = { top: window.scrollY, height: window.innerHeight };
  });
};
window.addEventListener('scroll', updateViewport, { passive: true });
window.addEventListener('resize', updateViewport);

export function VirtualList({
  items,
  label,
  focused,
}: {
  items: readonly ListItem[];
  label: string;
  focused?: number | undefined;
}) {
  const list = useRef<HTMLUListElement>(null);
  const offsets = useMemo(() => {
    const found = new Float64Array(items.length + 1);
    items.forEach(({ height }, index) => {
      found[index + 1] = found[index]! + height;
    });
    return found;
  }, [items]);
  const total = offsets[items.length]!;
  const start = list.current ? list.current.getBoundingClientRect().top + window.scrollY : 0;
  const { top, height } = viewport.value;
  const first = indexAt(offsets, top - start - OVERSCAN);
  const last = Math.min(indexAt(offsets, top - start + height + OVERSCAN) + 1, items.length);

  useEffect(() => {
    if (focused === undefined || !list.current || !items[focused]) return;
    const at = list.current.getBoundingClientRect().top + window.scrollY + offsets[focused]!;
    const head = 140;
    if (at < window.scrollY + head) window.scrollTo({ top: at - head });
    else if (at + items[focused].height > window.scrollY + window.innerHeight) {
      window.scrollTo({ top: at + items[focused].height - window.innerHeight + 24 });
    }
  }, [focused]);

  return (
    <ul class="virtual" ref={list} aria-label={label} style={{ height: `${total}px` }}>
      {items.slice(first, last).map(({ key, height: own, render }, index) => (
        <li
          key={key}
          class="virtual-item"
          style={{ transform: `translateY(${offsets[first + index]}px)`, height: `${own}px` }}
        >
          {render()}
        </li>
      ))}
    </ul>
  );
}

function indexAt(offsets: Float64Array, y: number): number {
  let [low, high] = [0, Math.max(offsets.length - 2, 0)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
