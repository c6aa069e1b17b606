/** Every deployment that is remembered: how it went, who asked for it and why, how long each part took. */
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import { type Application, type DeploymentView, pinText } from '../../client/explain/application.ts';
import { Badge } from '../look/Badge.tsx';
import { OUTCOMES } from '../look/words.ts';
import { mayDo, open } from '../parts/Actions.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { span } from '../state/clock.ts';

export function History({ application, rights }: { application: Application; rights: Rights }) {
  const { history, pin } = application;
  if (history.length === 0) return <p class="none">Nothing has been deployed yet.</p>;
  return (
    <>
      {pin && (
        <p>
          <Sentence text={`${pinText(pin)}.`} />
        </p>
      )}
      <section class="table-scroll" tabIndex={0} aria-label="History, every deployment">
        <table class="history">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">How it went</th>
              <th scope="col">When</th>
              <th scope="col">Who and why</th>
              <th scope="col">Took</th>
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {history.map((each) => (
              <Entry key={each.id} each={each} application={application} rights={rights} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

interface EntryProps {
  each: DeploymentView;
  application: Application;
  rights: Rights;
}

function Entry({ each, application, rights }: EntryProps) {
  const look = OUTCOMES[each.outcome];
  const actions = versionActions(application, each.version).filter((action) => mayDo(action, rights));
  return (
    <tr>
      <td>
        <span class="version">{each.version}</span>
        <small>
          #{each.id}
          {each.revision && ` · ${each.revision.slice(0, 12)}`}
        </small>
      </td>
      <td>
        <Badge tone={look.tone} icon={look.icon}>
          {look.text}
        </Badge>
        {each.outcome !== 'Succeeded' && each.detail && <small>{each.detail}</small>}
        {each.failedChecks.map(({ namespace, name }) => (
          <small key={`${namespace}/${name}`}>
            HealthCheck {namespace}/{name}
          </small>
        ))}
      </td>
      <td>
        <Ago time={each.at} />
      </td>
      <td class="history-why">
        <span>{each.by.kind === 'User' ? each.by.name : 'automatic'}</span>
        <small>{each.reason ?? each.message}</small>
        {each.rolledBackFrom && <small>rolled back from {each.rolledBackFrom}</small>}
        {each.bypass && (
          <small class="tone-held">
            past {each.bypass.gates.join(', ')}, by {each.bypass.by}: {each.bypass.reason}
          </small>
        )}
        {each.approvals.map(({ gate, kind, by, reason }) => (
          <small key={`${gate} ${by}`}>
            {kind === 'RolloutGate' ? `approved at ${gate}` : `${gate} opened`}
            {by && ` by ${by}`}
            {reason && `: ${reason}`}
          </small>
        ))}
      </td>
      <td>
        <Phases each={each} />
      </td>
      <td class="history-actions">
        {actions.map((action) => (
          <button key={action.id} type="button" class="small" onClick={() => open(action)} aria-label={action.label}>
            {action.submit}
          </button>
        ))}
      </td>
    </tr>
  );
}

function Phases({ each }: { each: DeploymentView }) {
  const between = (from: string | undefined, to: string | undefined) =>
    from && to ? Date.parse(to) - Date.parse(from) : undefined;
  const parts: [string, number | undefined][] = [
    ['arrived in', between(each.retriedAt ?? each.at, each.appliedAt)],
    ['healthy after', between(each.appliedAt, each.bakeStartedAt)],
    ['baked', between(each.bakeStartedAt, each.endedAt)],
    ['held', each.heldSeconds ? each.heldSeconds * 1000 : undefined],
  ];
  return (
    <>
      {parts.map(([word, ms]) =>
        ms !== undefined && ms >= 0 ? (
          <small key={word}>
            {word} {span(ms)}
          </small>
        ) : null,
      )}
    </>
  );
}
