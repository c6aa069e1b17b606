import { Message } from '../look/Message.tsx';
import { route } from '../state/route.ts';
import { hasKey } from '../state/session.ts';
import { connection, isComplete, kinds, open, signIn, trouble } from '../state/stream.ts';
import { AdoptPage } from './AdoptPage.tsx';
import { ApplicationPage } from './ApplicationPage.tsx';
import { Board } from './Board.tsx';
import { GatePage } from './GatePage.tsx';
import { GatesPage } from './GatesPage.tsx';
import { ObjectPage } from './ObjectPage.tsx';
import { PromotionPage } from './PromotionPage.tsx';

export function Page() {
  if (connection.value === 'refused' && signIn.value !== undefined) {
    const here = encodeURIComponent(location.pathname + location.search);
    return (
      <Message icon="user" title="You are not signed in" isWhole>
        <p>{trouble}</p>
        <p>
          <a rel="external" href={`${signIn.value}?to=${here}`}>
            Sign in
          </a>
        </p>
      </Message>
    );
  }
  if (connection.value === 'refused') {
    return (
      <Message icon="closed" tone="bad" title="This page is not authorized" isWhole>
        <p>{trouble}</p>
        {hasKey && (
          <>
            <p>The key changes each time the server starts. In a terminal:</p>
            <pre class="inline-command">kubectl rollouts ui</pre>
          </>
        )}
      </Message>
    );
  }
  if (connection.value === 'lost' && !isComplete.value) {
    return (
      <Message icon="problem" tone="bad" title="The server of this page does not answer" isWhole>
        {hasKey && (
          <>
            <p>It ends with the terminal that started it. Start it again:</p>
            <pre class="inline-command">kubectl rollouts ui</pre>
          </>
        )}
        <p>
          <button type="button" onClick={open}>
            Try again
          </button>
        </p>
      </Message>
    );
  }
  return (
    <>
      {connection.value === 'lost' && (
        <div class="notice tone-bad" role="status">
          The server of this page does not answer. What you see is how it was.{' '}
          <button type="button" class="link" onClick={open}>
            Try now
          </button>
        </div>
      )}
      <Behind />
      <Current />
    </>
  );
}

/** The API server is silent: said on every page, whatever it shows. */
function Behind() {
  const behind = kinds.value.filter(({ state }) => state === 'reconnecting' || state === 'signed-out');
  if (behind.length === 0 || !isComplete.value) return null;
  return (
    <div class="notice" role="status">
      {behind.some(({ state }) => state === 'signed-out')
        ? 'Your credentials are no longer accepted: sign in again as you do for kubectl. '
        : `The cluster does not answer (${behind[0]?.why}). `}
      What you see is how it was.
    </div>
  );
}

function Current() {
  const current = route.value;
  switch (current.page) {
    case 'board':
      return <Board />;
    case 'rollout':
      return <ApplicationPage key={current.id} id={current.id} />;
    case 'gates':
      return <GatesPage />;
    case 'gate':
      return <GatePage key={current.id} id={current.id} />;
    case 'object':
      return <ObjectPage key={`${current.kind}/${current.id}`} kind={current.kind} id={current.id} />;
    case 'promotion':
      return <PromotionPage />;
    case 'adopt':
      return <AdoptPage />;
    case 'unknown':
      return (
        <Message icon="unknown" title="There is no such page">
          <p>
            <a href="/">All applications</a>
          </p>
        </Message>
      );
  }
}
