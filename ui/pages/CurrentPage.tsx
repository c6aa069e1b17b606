import type { KindState } from '../../client/board/pageMessages.ts';
import { Message } from '../elements/Message.tsx';
import { unknownCluster } from '../state/cluster.ts';
import { route } from '../state/route.ts';
import { credentialsRefused, hasKey } from '../state/session.ts';
import { connection, isComplete, kinds, reconnect, rows, signIn, trouble } from '../state/stream.ts';
import { AdoptPage } from './AdoptPage.tsx';
import { ApplicationPage } from './ApplicationPage.tsx';
import { Board } from './Board.tsx';
import { GatesPage } from './GatesPage.tsx';
import { ObjectPage } from './ObjectPage.tsx';
import { PromotionPage } from './PromotionPage.tsx';

export function CurrentPage() {
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
  if (unknownCluster.value) {
    return (
      <Message icon="unknown" title={`Cluster ${unknownCluster.value} is not shown here`} isWhole>
        <p>This address is for another cluster.{hasKey && ' In a terminal:'}</p>
        {hasKey && <pre class="inline-command">kubectl rollouts ui --context {unknownCluster.value}</pre>}
        <p>
          <a href="/">All applications</a>
        </p>
      </Message>
    );
  }
  if (connection.value === 'lost' && !isComplete.value) {
    return (
      <Message icon="problem" tone="bad" title="This page is not connected" isWhole>
        <p>{trouble}</p>
        {hasKey && (
          <>
            <p>The page's server stops when its terminal is closed. Start it again:</p>
            <pre class="inline-command">kubectl rollouts ui</pre>
          </>
        )}
        <p>
          <button type="button" onClick={reconnect}>
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
          {trouble} This page may be out of date.{' '}
          <button type="button" class="link" onClick={reconnect}>
            Try now
          </button>
        </div>
      )}
      <ClusterNotices />
      <Current />
    </>
  );
}

/** The notices about clusters that don't answer, on every page. */
function ClusterNotices() {
  if (!isComplete.value) return null;
  return (
    <>
      {[...Map.groupBy(kinds.value, ({ cluster }) => cluster)].map(([cluster, states]) => (
        <ClusterNotice key={cluster} cluster={cluster} states={states} />
      ))}
    </>
  );
}

/** Whether applications of the cluster are shown. */
function isShown(cluster: string): boolean {
  return [...rows.value.values()].some((row) => row.cluster === cluster);
}

function ClusterNotice({ cluster, states }: { cluster: string | undefined; states: readonly KindState[] }) {
  const behind = states.filter(({ state }) => state === 'reconnecting' || state === 'signed-out');
  const of = cluster === undefined ? 'The cluster' : `Cluster ${cluster}`;
  if (behind.length > 0) {
    return (
      <div class="notice tone-held" role="status">
        {behind.some(({ state }) => state === 'signed-out')
          ? `${credentialsRefused(cluster)} `
          : `${of} does not answer (${behind[0]?.why}). `}
        {cluster === undefined || isShown(cluster)
          ? 'Its objects may be out of date.'
          : 'None of its objects are shown.'}
      </div>
    );
  }
  if (cluster === undefined || states.some(({ state }) => state !== 'loading')) return null;
  return (
    <div class="notice tone-held" role="status">
      {of} has not answered yet.
    </div>
  );
}

function Current() {
  const current = route.value;
  // The keys have the cluster, because the same name in another cluster is another object.
  const { cluster: where } = current.query;
  switch (current.page) {
    case 'board':
      return <Board />;
    case 'rollout':
      return <ApplicationPage key={`${where} ${current.id}`} id={current.id} />;
    case 'gates':
      return <GatesPage />;
    case 'object':
      return <ObjectPage key={`${where} ${current.kind}/${current.id}`} kind={current.kind} id={current.id} />;
    case 'promotion':
      return <PromotionPage />;
    case 'adopt':
      return <AdoptPage key={where} />;
    case 'unknown':
      return (
        <Message icon="unknown" title="There is no such page" isWhole>
          <p>
            <a href="/">All applications</a>
          </p>
        </Message>
      );
  }
}
