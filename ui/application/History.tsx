/** The deployments in the history: result, requester and reason, and how long each part took. */
import { useEffect, useRef } from 'preact/hooks';
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import type { Application, DeploymentView } from '../../client/explain/application.ts';
import { pinText } from '../../client/explain/application.ts';
import { ageText } from '../../client/explain/when.ts';
import { Badge } from '../elements/Badge.tsx';
import { Table } from '../elements/Table.tsx';
import { OUTCOMES } from '../elements/words.ts';
import { openAction } from '../parts/ActionDialog.tsx';
import { mayDo } from '../parts/rights.ts';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { linkTo, query } from '../state/route.ts';

export function History({ application, rights }: { application: Application; rights: Rights }) {
  const { history, pin } = application;
  return (
    <>
      {pin?.from !== undefined && (
        <p>
          <Sentence text={`${pinText(pin)}.`} />
        </p>
      )}
      <Table label="History, every deployment" heads={['Version', 'Outcome', 'When', 'Who and why', 'Took', 'Actions']}>
        {history.map((each) => (
          <Entry key={each.id} each={each} application={application} rights={rights} />
        ))}
      </Table>
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
  const isChosen = query.value.release === each.version;
  const own = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isChosen) own.current?.scrollIntoView({ block: 'center' });
  }, []);
  const actions = versionActions(application, each.version, Date.now()).filter((action) => mayDo(action, rights));
  const why = each.reason ?? each.message;
  return (
    <tr ref={own} aria-current={isChosen ? 'true' : undefined}>
      <td>
        <a
          class="version"
          href={linkTo.rollout(`${application.namespace}/${application.name}`, { release: each.version })}
        >
          {each.version}
        </a>
        <small class="meta">
          #{each.id}
          {each.revision && ` · ${each.revision.slice(0, 12)}`}
        </small>
      </td>
      <td>
        <Badge tone={look.tone} icon={look.icon}>
          {look.text}
        </Badge>
        {each.outcome !== 'Succeeded' && each.detail && <small class="meta">{each.detail}</small>}
        {each.failedChecks.map(({ namespace, name }) => (
          <small class="meta" key={`${namespace}/${name}`}>
            HealthCheck {namespace}/{name}
          </small>
        ))}
      </td>
      <td>
        <Ago time={each.at} />
      </td>
      <td class="history-why">
        {each.by.kind === 'User' ? (
          <>
            <span>{each.by.name}</span>
            <small class="meta">{why}</small>
          </>
        ) : (
          <span>{why ?? 'automatic'}</span>
        )}
        {each.rolledBackFrom && <small class="meta">rolled back from {each.rolledBackFrom}</small>}
        {each.bypass && (
          <small class="tone-held">
            bypassed {each.bypass.gates.join(', ')}, by {each.bypass.by}: {each.bypass.reason}
          </small>
        )}
        {each.approvals.map(({ gate, kind, by, reason }) => (
          <small class="meta" key={`${gate} ${by}`}>
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
          <button
            key={action.id}
            type="button"
            class="small"
            onClick={() => openAction(action)}
            aria-label={action.label}
          >
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
    ['applied in', between(each.retriedAt ?? each.at, each.appliedAt)],
    ['healthy after', between(each.appliedAt, each.bakeStartedAt)],
    ['baked', between(each.bakeStartedAt, each.endedAt)],
    ['held', each.heldSeconds ? each.heldSeconds * 1000 : undefined],
  ];
  return (
    <>
      {parts.map(([word, ms]) =>
        ms !== undefined && ms >= 0 ? (
          <small class="meta" key={word}>
            {word} {ageText(ms)}
          </small>
        ) : null,
      )}
    </>
  );
}
