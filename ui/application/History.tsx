/** The deployments in the history: result, requester and reason, and how long each part took. */
import { useEffect, useRef } from 'preact/hooks';
import { versionActions } from '../../client/actions/rolloutActions.ts';
import type { Rights } from '../../client/board/pageMessages.ts';
import {
  type Application,
  type Deployment,
  outcomeOf,
  permissionTexts,
  pinText,
  userOf,
} from '../../client/explain/application.ts';
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
        {history.map((each, index) => (
          <Entry key={each.id} each={each} before={history[index + 1]} application={application} rights={rights} />
        ))}
      </Table>
    </>
  );
}

interface EntryProps {
  each: Deployment;
  before: Deployment | undefined;
  application: Application;
  rights: Rights;
}

function Entry({ each, before, application, rights }: EntryProps) {
  const { tag, revision } = each.version;
  const outcome = outcomeOf(each);
  const look = OUTCOMES[outcome];
  const isChosen = query.value.release === tag;
  const own = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isChosen) own.current?.scrollIntoView({ block: 'center' });
  }, []);
  const actions = versionActions(application, tag, Date.now()).filter((action) => mayDo(action, rights));
  const why = each.reason ?? each.message;
  const user = userOf(each);
  return (
    <tr ref={own} aria-current={isChosen ? 'true' : undefined}>
      <td>
        <a class="version" href={linkTo.rollout(`${application.namespace}/${application.name}`, { release: tag })}>
          {tag}
        </a>
        <small class="meta">
          #{each.id}
          {revision && ` · ${revision.slice(0, 12)}`}
        </small>
      </td>
      <td>
        <Badge tone={look.tone} icon={look.icon}>
          {look.text}
        </Badge>
        {outcome !== 'Succeeded' && each.bakeStatusMessage && <small class="meta">{each.bakeStatusMessage}</small>}
        {each.failedHealthChecks?.map(({ namespace, name }) => (
          <small class="meta" key={`${namespace}/${name}`}>
            HealthCheck {namespace}/{name}
          </small>
        ))}
      </td>
      <td>
        <Ago time={each.timestamp} />
      </td>
      <td class="history-why">
        {user ? (
          <>
            <span>{user}</span>
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
        {permissionTexts(each, before).map((text) => (
          <small class="meta" key={text}>
            {text}
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

function Phases({ each }: { each: Deployment }) {
  const between = (from: string | undefined, to: string | undefined) =>
    from && to ? Date.parse(to) - Date.parse(from) : undefined;
  const parts: [string, number | undefined][] = [
    ['applied in', between(each.lastRetryTimestamp ?? each.timestamp, each.appliedTime)],
    ['healthy after', between(each.appliedTime, each.bakeStartTime)],
    ['baked', between(each.bakeStartTime, each.bakeEndTime)],
    ['held', each.waitedSeconds ? each.waitedSeconds * 1000 : undefined],
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
