/** The chosen stage of a pipeline: why a version waits there, and the actions. */
import { useEffect, useRef } from 'preact/hooks';
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { ApplicationPageData } from '../../client/board/pageMessages.ts';
import { type Row, rowKey } from '../../client/board/row.ts';
import { Icon } from '../elements/Icon.tsx';
import { STATES } from '../elements/words.ts';
import { ActionDialog } from '../parts/ActionDialog.tsx';
import { Actions } from '../parts/Actions.tsx';
import { Why } from '../parts/Why.tsx';
import { useItem } from '../state/item.ts';
import { linkTo, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';

/** The card of the chosen stage. `release`: the chosen version; undefined: the next one. */
export function ChosenStage({ row, release }: { row: Row; release: string | undefined }) {
  const { value, problem } = useItem((signal) => api.application(row.id, signal, row.cluster), row);
  const own = useRef<HTMLElement>(null);
  useEffect(() => own.current?.scrollIntoView({ block: 'nearest' }), [value === undefined]);
  return (
    <section
      ref={own}
      class={`card edge stack banner stage tone-${STATES[row.state].tone}`}
      aria-label={`Stage ${rowKey(row)}`}
    >
      <div class="line banner-head">
        <h3>
          {release && (
            <>
              <span class="version">{release}</span> in{' '}
            </>
          )}
          <a href={linkTo.rollout(row.id, release ? { release } : {})}>{rowKey(row)}</a>
        </h3>
        <span>{row.headline}</span>
        <button
          type="button"
          class="quiet"
          aria-label="Close the stage"
          onClick={() => setQuery({ cluster: '', stage: '', release: '' })}
        >
          <Icon name="close" />
        </button>
      </div>
      {value ? <Details data={value} release={release} /> : problem && <p>{problem}</p>}
    </section>
  );
}

function Details({
  data: { application, actions, rights },
  release,
}: {
  data: ApplicationPageData;
  release: string | undefined;
}) {
  const { causes, next, unread, waiting } = application;
  const ofVersion = release === undefined ? [] : versionActions(application, release, Date.now());
  const offered = [...actions.filter(({ request }) => !release || request.version === release), ...ofVersion];
  const shown = offered.filter(({ id }, index) => offered.findIndex((each) => each.id === id) === index);
  return (
    <>
      {(release === undefined || release === waiting?.version) && <Why causes={causes} next={next} unread={unread} />}
      <Actions actions={shown} rights={rights} />
      <ActionDialog find={(id) => [...shown, ...actions].find((action) => action.id === id)} rights={rights} />
    </>
  );
}
