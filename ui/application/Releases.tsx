/** Every release that is known, also those that no deployment has had: to deploy one by hand, or to stay on it. */
import { useState } from 'preact/hooks';
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { ReleaseView, Rights } from '../../client/board/pageMessages.ts';
import type { Application } from '../../client/explain/application.ts';
import { mayDo, open } from '../parts/Actions.tsx';
import { Ago } from '../parts/Time.tsx';

interface ReleasesProps {
  application: Application;
  releases: readonly ReleaseView[];
  rights: Rights;
}

export function Releases({ application, releases, rights }: ReleasesProps) {
  const [tag, setTag] = useState('');
  const chosen = releases.find((release) => release.tag === tag);
  const actions = chosen ? versionActions(application, chosen.tag).filter((action) => mayDo(action, rights)) : [];
  if (releases.length === 0) return null;
  return (
    <section class="card panel releases" aria-labelledby="releases-title">
      <h2 id="releases-title">Another version</h2>
      <div class="releases-choice">
        <select aria-label="Version" value={tag} onChange={(event) => setTag(event.currentTarget.value)}>
          <option value="">Choose of {releases.length} known releases…</option>
          {releases.map((release) => (
            <option key={release.tag} value={release.tag}>
              {release.tag}
              {release.tag === application.runs?.version ? ' (runs)' : ''}
            </option>
          ))}
        </select>
        {actions.map((action) => (
          <button key={action.id} type="button" onClick={() => open(action)}>
            {action.label}
          </button>
        ))}
        {chosen && (
          <small>
            {chosen.revision && <code>{chosen.revision.slice(0, 12)}</code>}{' '}
            <Ago time={chosen.firstSeen ?? chosen.created} prefix="first seen " />
          </small>
        )}
      </div>
    </section>
  );
}
