/** The versions of a pipeline by stage: where each runs, ran or waits, and the likely action if it waits. */
import { type Row, rowKey } from '../../client/board/row.ts';
import { Icon } from '../elements/Icon.tsx';
import { Table } from '../elements/Table.tsx';
import { type Look, OUTCOMES, STATES } from '../elements/words.ts';
import { mayDo, primaryOf } from '../parts/rights.ts';
import { Ago, For } from '../parts/Time.tsx';
import { cluster } from '../state/cluster.ts';
import { useItem } from '../state/item.ts';
import { linkTo, query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';
import { type Cell, cellOf, versionsOf } from './pipelines.ts';

/** The most columns of the table. */
const MAX_COLUMNS = 40;

export function Matrix({ title, stages }: { title: string; stages: readonly Row[] }) {
  const versions = versionsOf(stages);
  const shown = stages.slice(0, MAX_COLUMNS);
  if (versions.length === 0) return null;
  return (
    <>
      <Table class="matrix" label={`Versions by stage, from ${title} on`} heads={['Version', ...shown.map(headOf)]}>
        {versions.map((version) => (
          <tr key={version}>
            <th scope="row">
              <span class="version">{version}</span>
            </th>
            {shown.map((row) => (
              <MatrixCell key={rowKey(row)} row={row} version={version} cell={cellOf(row, version)} />
            ))}
          </tr>
        ))}
      </Table>
      {stages.length > MAX_COLUMNS && <p class="meta">{stages.length - MAX_COLUMNS} more stages are on the board.</p>}
    </>
  );
}

const headOf = ({ cluster, namespace, name }: Row) => (
  <>
    {name} <small class="meta">{[cluster, namespace].filter(Boolean).join(' · ')}</small>
  </>
);

const LOOKS: Record<Cell['is'], (cell: Cell) => Look> = {
  waits: () => STATES.waits,
  runs: ({ outcome = 'Unknown' }) => OUTCOMES[outcome],
  // A version that ran before: its result no longer matters.
  ran: ({ outcome = 'Unknown' }) => ({ ...OUTCOMES[outcome], tone: 'calm' }),
};

/** The text of a cell: `Runs`, `Runs, baking`, or the result of a version that ran before. */
function cellText({ is }: Cell, { text, tone }: Look): string {
  return is !== 'runs' ? text : tone === 'good' ? 'Runs' : `Runs, ${text.toLowerCase()}`;
}

function MatrixCell({ row, version, cell }: { row: Row; version: string; cell: Cell | undefined }) {
  const { stage, release } = query.value;
  const isChosen = stage === row.id && release === version && row.cluster === cluster.value;
  const look = cell && LOOKS[cell.is](cell);
  return (
    <td class={`matrix-${cell?.is ?? 'none'}`} aria-current={isChosen ? 'true' : undefined}>
      <a class={`line tone-${look?.tone ?? 'calm'}`} href={linkTo.stage(row, version)}>
        <span class="hidden">{`${version} in ${rowKey(row)}: `}</span>
        <span class="matrix-stage" aria-hidden="true">
          {[row.cluster, row.name].filter(Boolean).join(' · ')}
        </span>
        {cell && look ? (
          <>
            <Icon name={look.icon} size={13} /> {cellText(cell, look)}
          </>
        ) : (
          <>
            <span aria-hidden="true">–</span>
            <span class="hidden">not deployed</span>
          </>
        )}
      </a>
      {cell?.at && <small class="meta">{cell.is === 'waits' ? <For since={cell.at} /> : <Ago time={cell.at} />}</small>}
      {cell?.is === 'waits' && <LikelyAction row={row} version={version} />}
    </td>
  );
}

/** The button of the action that stands out on the application's page. */
function LikelyAction({ row, version }: { row: Row; version: string }) {
  const { value } = useItem((signal) => api.application(row.id, signal, row.cluster), row);
  const allowed = value?.actions.filter((action) => mayDo(action, value.rights)) ?? [];
  const action = primaryOf(allowed.filter(({ request }) => request.version === version));
  if (!action) return null;
  const open = () => setQuery({ cluster: row.cluster, stage: row.id, release: version, do: action.id });
  return (
    <button type="button" class="small" aria-label={`${action.label}, in ${rowKey(row)}`} onClick={open}>
      {action.submit}
    </button>
  );
}
