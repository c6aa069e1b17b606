/** What runs without a Rollout in charge: each Kustomization, OCIRepository and HelmRelease, with what would put it under one. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AdoptList, Ungoverned } from '../../client/board/adoptViews.ts';
import { Icon } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import { now } from '../state/clock.ts';
import { useItem } from '../state/item.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';
import { TakeOverDialog } from '../takeOver/TakeOverDialog.tsx';

/** Nothing watches these: they are asked for again while somebody looks. */
const LOOK_MS = 20_000;
/** More are found by searching. */
const SHOWN = 200;

export function TakeOverPage() {
  const [made, setMade] = useState(0);
  const { value, problem } = useItem(api.takeOvers, `${made} ${Math.floor(now.value / LOOK_MS)}`);
  useEffect(() => {
    document.title = 'Take over · Rollouts';
  }, []);
  const chosen = chosenOf(query.value.get('object') ?? '');
  return (
    <article class="take-over">
      <header class="page-head">
        <h1>Not under a Rollout</h1>
        <span class="page-sum">{value && sumOf(value)}</span>
      </header>
      {value ? <List list={value} /> : problem ? <Unreadable text={problem.message} /> : <div class="skeleton tall" />}
      {chosen && (
        <TakeOverDialog
          key={keyOf(chosen)}
          object={chosen}
          onClose={() => {
            setQuery({ object: undefined });
            setMade(made + 1);
          }}
        />
      )}
    </article>
  );
}

function sumOf({ objects, count }: AdoptList): string {
  const ready = objects.filter(({ found }) => found).length;
  if (count === 0) return '';
  return `${ready} of ${count} could be taken over as they are; nothing that runs changes by it`;
}

function Unreadable({ text }: { text: string }) {
  return (
    <Message icon="problem" tone="bad" title="What is there could not be read">
      <p>{text}</p>
    </Message>
  );
}

function List({ list: { objects, count, unread } }: { list: AdoptList }) {
  const q = query.value.get('q') ?? '';
  const shown = useMemo(
    () => objects.filter((each) => keyOf(each).toLowerCase().includes(q.toLowerCase())),
    [objects, q],
  );
  return (
    <>
      {unread.map((text) => (
        <p key={text} class="notice">
          Could not be read: {text}
        </p>
      ))}
      {count === 0 ? (
        <Message icon="done" tone="good" title="Everything is under a Rollout">
          <p>
            {unread.length > 0
              ? 'At least of what you may see.'
              : 'There is no Kustomization, OCIRepository or HelmRelease that follows none.'}
          </p>
          <a href={linkTo.board}>To the board</a>
        </Message>
      ) : (
        <>
          <label class="search take-over-search">
            <Icon name="search" />
            <input
              type="search"
              value={q}
              placeholder="Search: kind, namespace, name"
              aria-label="Search what is not under a Rollout"
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
          </label>
          {shown.length === 0 && <p class="none">None of {count} is what you look for.</p>}
          <ul class="take-over-list" aria-label="Not under a Rollout">
            {shown.slice(0, SHOWN).map((each) => (
              <Row key={keyOf(each)} object={each} />
            ))}
          </ul>
          {shown.length > SHOWN && <p class="none">{shown.length - SHOWN} more: search for them.</p>}
          {count > objects.length && (
            <p class="none">
              {count - objects.length} were left out: look at one namespace with kubectl rollouts ui -n.
            </p>
          )}
        </>
      )}
    </>
  );
}

function Row({ object }: { object: Ungoverned }) {
  const { kind, namespace, name, found, problem } = object;
  return (
    <li class="take-over-row card">
      <div class="take-over-name">
        <strong>{name}</strong>
        <span>
          {kind} in {namespace}
        </span>
      </div>
      {found ? (
        <p>
          runs <span class="version">{found.version}</span>, would be under Rollout {found.rollout}
        </p>
      ) : (
        <p class="take-over-problem">{problem}</p>
      )}
      {kind !== 'HelmRelease' && (
        <button
          type="button"
          class="small"
          aria-label={`${found ? 'Take over' : 'Choose'} ${keyOf(object)}`}
          onClick={() => setQuery({ object: keyOf(object) })}
        >
          {found ? 'Take over' : 'Choose'}
        </button>
      )}
    </li>
  );
}

type Chosen = Pick<Ungoverned, 'namespace' | 'name'> & { kind: 'Kustomization' | 'OCIRepository' };

/** `Kustomization shop/checkout`; in the address too. */
function keyOf({ kind, namespace, name }: Pick<Ungoverned, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}

function chosenOf(text: string): Chosen | undefined {
  const [, kind, namespace, name] = /^(Kustomization|OCIRepository) ([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return kind && namespace && name ? { kind: kind as Chosen['kind'], namespace, name } : undefined;
}
