/** A choice of all known releases, even never deployed ones, with the actions on the chosen one. */
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { ApplicationPageData, Rights } from '../../client/board/pageMessages.ts';
import type { Application } from '../../client/explain/application.ts';
import { Panel } from '../elements/Panel.tsx';
import { openAction } from '../parts/ActionDialog.tsx';
import { mayDo } from '../parts/rights.ts';
import { Select } from '../parts/Select.tsx';
import { Ago } from '../parts/Time.tsx';
import { query, setQuery } from '../state/route.ts';

interface ReleasesProps {
  application: Application;
  releases: ApplicationPageData['releases'];
  rights: Rights;
}

export function Releases({ application, releases, rights }: ReleasesProps) {
  const { release: tag = '' } = query.value;
  const chosen = releases.find((release) => release.tag === tag);
  const actions = chosen
    ? versionActions(application, chosen.tag, Date.now()).filter((action) => mayDo(action, rights))
    : [];
  const running = application.runs?.version.tag;
  if (releases.length === 0) return null;
  return (
    <Panel id="releases" title="Another version">
      <div class="line">
        <Select
          label="Version"
          value={tag}
          options={[
            ['', 'Choose a release…'],
            ...releases.map((each) => [each.tag, `${each.tag}${each.tag === running ? ' (runs)' : ''}`] as const),
          ]}
          onChange={(release) => setQuery({ release })}
        />
        {actions.map((action) => (
          <button key={action.id} type="button" onClick={() => openAction(action)}>
            {action.label}
          </button>
        ))}
        {chosen && (
          <small class="meta">
            {chosen.revision && <code>{chosen.revision.slice(0, 12)}</code>}{' '}
            <Ago time={chosen.firstSeen ?? chosen.created} prefix="first seen " />
          </small>
        )}
      </div>
    </Panel>
  );
}
