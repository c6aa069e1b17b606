import { Icon } from '../elements/Icon.tsx';
import { clusters } from '../state/cluster.ts';
import { linkTo, route } from '../state/route.ts';
import { api } from '../state/session.ts';
import { connection, hello, kinds, reconnect } from '../state/stream.ts';
import { nextTheme, theme } from '../state/theme.ts';
import { help } from './Help.tsx';

const TABS = [
  { page: 'board', text: 'Board', to: linkTo.board, also: ['rollout', 'adopt'] },
  { page: 'gates', text: 'Gates', to: linkTo.gates, also: ['gate'] },
  { page: 'promotion', text: 'Promotion', to: linkTo.promotion, also: [] as string[] },
] as const;

export function TopBar() {
  const page = 'kind' in route.value ? route.value.kind : route.value.page;
  return (
    <header class="topbar">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="brand" href="/" aria-label="Rollouts, to the board">
        <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="9" class="brand-tile" />
          <path d="M7 16h6m6 0h6" class="brand-line" />
          <circle cx="16" cy="16" r="4" class="brand-dot" />
        </svg>
        <span class="brand-name">Rollouts</span>
      </a>
      <nav aria-label="Pages">
        {TABS.map(({ page: own, text, to, also }) => (
          <a
            key={own}
            href={to}
            aria-current={page === own || (also as readonly string[]).includes(page) ? 'page' : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      <div class="topbar-end">
        <Live />
        <button
          type="button"
          class="quiet"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value}`}
        >
          <Icon name={theme.value === 'light' ? 'sun' : theme.value === 'dark' ? 'moon' : 'system'} />
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            help.value = true;
          }}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="help" />
        </button>
        {hello.value?.signOut !== undefined && (
          <button type="button" class="quiet" onClick={leave} aria-label="Sign out" title="Sign out">
            <Icon name="leave" />
          </button>
        )}
      </div>
    </header>
  );
}

/** Signs out. The server refuses the next stream, and the page offers to sign in again. */
function leave(): void {
  void api.signOut(hello.value?.signOut ?? '').finally(reconnect);
}

const TONES = { live: 'good', connecting: 'held', behind: 'held', lost: 'bad', refused: 'bad' } as const;

/** The tooltip: server and user of each cluster. The page in a cluster doesn't name servers. */
function clustersText(): string | undefined {
  if (clusters.value.length === 0) return hello.value?.server;
  return clusters.value
    .map(({ name, server, user }) => `${name}${server && `: ${server}`}${user ? ` as ${user}` : ''}`)
    .join('\n');
}

/** The name of the reader; undefined if it differs between clusters. */
function userOf(): string | undefined {
  const user = hello.value?.user;
  return clusters.value.every((each) => each.user === user) ? user : undefined;
}

/** The cluster, the reader, and whether the page is up to date. */
function Live() {
  const isBehind = kinds.value.some(({ state }) => state === 'reconnecting' || state === 'signed-out');
  const state = connection.value !== 'live' ? connection.value : isBehind ? 'behind' : 'live';
  const text = {
    live: 'live',
    connecting: 'connecting',
    lost: 'not connected',
    refused: 'refused',
    behind: 'reconnecting',
  }[state];
  return (
    <span class={`live tone-${TONES[state]}`} title={clustersText()}>
      <span class="live-dot" />
      <span class="live-context clip">
        {clusters.value.length > 0 ? `${clusters.value.length} clusters` : hello.value?.context || 'cluster'}
      </span>
      {userOf() && <span class="live-text clip">as {userOf()}</span>}
      <span class="live-text">{text}</span>
    </span>
  );
}
