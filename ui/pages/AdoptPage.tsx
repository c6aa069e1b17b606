/** Kustomizations, OCIRepositories and HelmReleases without a Rollout, and how to adopt each. */
import { useMemo, useState } from 'preact/hooks';
import type { AdoptList, UnboundObject } from '../../client/board/adoptViews.ts';
import { AdoptDialog } from '../adopt/AdoptDialog.tsx';
import { Message } from '../elements/Message.tsx';
import { ClusterChoice } from '../parts/Choice.tsx';
import { Loading } from '../parts/Item.tsx';
import { Search } from '../parts/Search.tsx';
import { now } from '../state/clock.ts';
import { cluster, clusters } from '../state/cluster.ts';
import { useItem } from '../state/item.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';

/** The interval of reads: these objects aren't watched. */
const READ_MS = 20_000;
/** The most objects that are listed; a search finds others. */
const MAX_SHOWN = 200;

export function AdoptPage() {
  const [made, setMade] = useState(0);
  const { value, problem } = useItem(api.adoptable, `${made} ${Math.floor(now.value / READ_MS)}`, cluster.value);
  const chosen = chosenOf(query.value.object ?? '');
  return (
    <article>
      <header class="line page-head">
        <h1>Not under a Rollout</h1>
        <span class="page-sum">{value && sumOf(value)}</span>
        <ClusterChoice none="Choose a cluster…" />
      </header>
      {clusters.value.length > 0 && !cluster.value ? null : value ? (
        <List list={value} />
      ) : problem ? (
        <Message icon="problem" tone="bad" title="Couldn't load objects">
          <p>{problem}</p>
        </Message>
      ) : (
        <Loading count={2} isTall />
      )}
      {chosen && (
        <AdoptDialog
          key={keyOf(chosen)}
          object={chosen}
          onClose={() => {
            setQuery({ object: '', policy: '', variable: '', rollout: '', runs: '' }, 'replace');
            setMade(made + 1);
          }}
        />
      )}
    </article>
  );
}

function sumOf({ objects, count }: AdoptList): string {
  const ready = objects.filter(({ found }) => found).length;
  return count === 0 ? '' : `${ready} of ${count} can be adopted now, without changing what runs`;
}

function List({ list: { objects, count, unread } }: { list: AdoptList }) {
  const { q = '' } = query.value;
  const shown = useMemo(
    () => objects.filter((each) => keyOf(each).toLowerCase().includes(q.toLowerCase())),
    [objects, q],
  );
  return (
    <>
      {unread.map((text) => (
        <p key={text} class="notice tone-held">
          Not read: {text}
        </p>
      ))}
      {count === 0 ? (
        <Message icon="done" tone="good" title="Every object has a Rollout">
          <p>
            {unread.length > 0
              ? 'Of the objects that you are allowed to read.'
              : 'There is no Kustomization, OCIRepository or HelmRelease without one.'}
          </p>
          <a href={linkTo.board}>All applications</a>
        </Message>
      ) : (
        <>
          <Search value={q} label="Search what is not under a Rollout" placeholder="Search: kind, namespace, name" />
          {shown.length === 0 && <p class="meta">None of {count} matches.</p>}
          <ul class="stack" aria-label="Not under a Rollout">
            {shown.slice(0, MAX_SHOWN).map((each) => (
              <Row key={keyOf(each)} object={each} />
            ))}
          </ul>
          {shown.length > MAX_SHOWN && <p class="meta">{shown.length - MAX_SHOWN} more: search for them.</p>}
          {count > objects.length && (
            <p class="meta">{count - objects.length} are not listed: show one namespace with kubectl rollouts ui -n.</p>
          )}
        </>
      )}
    </>
  );
}

function Row({ object }: { object: UnboundObject }) {
  const { kind, namespace, name, found, problem } = object;
  return (
    <li class="adopt-row card">
      <div class="stack tight">
        <strong class="clip">{name}</strong>
        <span class="meta clip">
          {kind} in {namespace}
        </span>
      </div>
      {found ? (
        <p>
          runs <span class="version">{found.version}</span>, would be under Rollout {found.rollout}
        </p>
      ) : (
        <p class="meta">{problem}</p>
      )}
      {kind !== 'HelmRelease' && (
        <button
          type="button"
          class="small"
          aria-label={`${found ? 'Adopt' : 'Choose'} ${keyOf(object)}`}
          onClick={() => setQuery({ object: keyOf(object) })}
        >
          {found ? 'Adopt' : 'Choose'}
        </button>
      )}
    </li>
  );
}

type Chosen = Pick<UnboundObject, 'namespace' | 'name'> & { kind: 'Kustomization' | 'OCIRepository' };

/** The key of an object, also in the address: `Kustomization shop/checkout`. */
function keyOf({ kind, namespace, name }: Pick<UnboundObject, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}

function chosenOf(text: string): Chosen | undefined {
  const [, kind, namespace, name] = /^(Kustomization|OCIRepository) ([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return kind && namespace && name ? { kind: kind as Chosen['kind'], namespace, name } : undefined;
}
