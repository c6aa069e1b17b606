import { Message } from '../look/Message.tsx';
import { route } from '../state/route.ts';
import { connection, isComplete, open, trouble } from '../state/stream.ts';
import { ApplicationPage } from './ApplicationPage.tsx';
import { Board } from './Board.tsx';
import { GatePage } from './GatePage.tsx';
import { GatesPage } from './GatesPage.tsx';
import { ObjectPage } from './ObjectPage.tsx';
import { PromotionPage } from './PromotionPage.tsx';
import { TakeOverPage } from './TakeOverPage.tsx';

export function Page() {
  if (connection.value === 'refused') {
    return (
      <Message icon="closed" tone="bad" title="This page is not let in">
        <p>{trouble}</p>
        <p>The key changes each time the server starts. In a terminal:</p>
        <pre class="inline-command">kubectl rollouts ui</pre>
      </Message>
    );
  }
  if (connection.value === 'lost' && !isComplete.value) {
    return (
      <Message icon="problem" tone="bad" title="The server of this page does not answer">
        <p>It ends with the terminal that started it. Start it again:</p>
        <pre class="inline-command">kubectl rollouts ui</pre>
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
      <Current />
    </>
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
    case 'take-over':
      return <TakeOverPage />;
    case 'unknown':
      return (
        <Message icon="unknown" title="There is no such page">
          <p>
            <a href="/">To the board</a>
          </p>
        </Message>
      );
  }
}
