/** The page of one object: its head, and a text while it is read or if it does not exist. */
import { Badge } from '../elements/Badge.tsx';
import { Icon } from '../elements/Icon.tsx';
import { Message } from '../elements/Message.tsx';
import type { Look } from '../elements/words.ts';
import { cluster } from '../state/cluster.ts';
import type { Loaded } from '../state/item.ts';
import { linkTo } from '../state/route.ts';
import { isComplete } from '../state/stream.ts';

interface ItemProps<T> {
  loaded: Loaded<T>;
  children: (value: T) => preact.ComponentChildren;
}

export function Item<T>({ loaded: { value, problem }, children }: ItemProps<T>) {
  if (value !== undefined) return <article class="stack item">{children(value)}</article>;
  if (!problem || !isComplete.value) return <Loading count={2} isTall />;
  return (
    <Message icon="search" title="Not found" isWhole>
      <p>{problem}</p>
      <a href={linkTo.board}>All applications</a>
    </Message>
  );
}

interface ItemHeadProps {
  /** The pages above this one, with their addresses. */
  crumbs: readonly (readonly [text: string, to?: string])[];
  name: string;
  look: Look;
  children?: preact.ComponentChildren;
}

export function ItemHead({ crumbs, name, look, children }: ItemHeadProps) {
  const { value: where } = cluster;
  const [first, ...rest] = crumbs;
  const all = where === undefined || !first ? crumbs : [first, [where, linkTo.cluster(where)] as const, ...rest];
  return (
    <>
      <nav class="line crumbs" aria-label="Breadcrumb">
        {all.map(([text, to], index) => (
          <>
            {index > 0 && <Icon name="chevron" size={12} />}
            {to ? <a href={to}>{text}</a> : <span>{text}</span>}
          </>
        ))}
      </nav>
      <header class="line">
        <h1>{name}</h1>
        <Badge tone={look.tone} icon={look.icon}>
          {look.text}
        </Badge>
        {children}
      </header>
    </>
  );
}

export function Loading({ count, isTall }: { count: number; isTall?: boolean }) {
  return (
    <div class="stack" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, each) => (
        <div key={each} class={isTall ? 'skeleton tall' : 'skeleton'} />
      ))}
    </div>
  );
}
