/** Promotion: pipelines with their stages, versions and blockers, and budgets with their waves. */
import { computed } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { rowKey } from '../../client/board/row.ts';
import { Message } from '../elements/Message.tsx';
import { OUTCOMES } from '../elements/words.ts';
import { Loading } from '../parts/Item.tsx';
import { Search } from '../parts/Search.tsx';
import { Ago } from '../parts/Time.tsx';
import { UnreadNote } from '../parts/UnreadNote.tsx';
import { ChosenStage } from '../promotion/ChosenStage.tsx';
import { Graph, moveFocus } from '../promotion/Graph.tsx';
import { Matrix } from '../promotion/Matrix.tsx';
import { hasWords, lastMoved, movedAt, type Pipeline, pipelinesOf } from '../promotion/pipelines.ts';
import { BudgetPanel } from '../promotion/Waves.tsx';
import { cluster } from '../state/cluster.ts';
import { onKeys } from '../state/keys.ts';
import { query } from '../state/route.ts';
import { budgets, isComplete, rows } from '../state/stream.ts';

/** The most pipelines that are shown; a search finds others. */
const MAX_SHOWN = 20;

const pipelines = computed(() => pipelinesOf(rows.value));

export function PromotionPage() {
  useLayoutEffect(() => onKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) }), []);
  if (!isComplete.value) return <Loading count={1} isTall />;
  const { q = '' } = query.value;
  const stage = chosenStage();
  const found = pipelines.value.filter((pipeline) => hasWords(pipeline, rows.value, q));
  // The pipeline of the chosen stage is shown too.
  const shown = found.filter(({ stages }, index) => index < MAX_SHOWN || stages.includes(stage));
  const waves = [...budgets.value.values()].sort(
    (a, b) => Number(b.state === 'held') - Number(a.state === 'held') || a.id.localeCompare(b.id),
  );
  return (
    <article>
      <header class="line page-head">
        <h1>Promotion</h1>
        <span class="page-sum">
          {pipelines.value.length > 0 && 'a version goes from stage to stage, once it has succeeded'}
        </span>
      </header>
      <UnreadNote of={['RolloutBudget', 'ClusterRolloutBudget']} />
      {pipelines.value.length > 1 && (
        <Search value={q} label="Search pipelines" placeholder="Search: name, version, image" />
      )}
      {pipelines.value.length + waves.length === 0 && (
        <Message icon="chevron" title="No Rollout uses spec.after">
          <p>
            With <code>spec.after</code> a Rollout deploys a version once it has succeeded in another Rollout:
            production after staging, one region after another. A RolloutBudget limits how many Rollouts deploy at once,
            in waves.
          </p>
        </Message>
      )}
      {pipelines.value.length > 0 && found.length === 0 && (
        <p class="meta">None of {pipelines.value.length} pipelines matches.</p>
      )}
      {shown.map((pipeline) => (
        <PipelineCard key={pipeline.stages[0]} pipeline={pipeline} />
      ))}
      {found.length > shown.length && <p class="meta">{found.length - shown.length} more: search for them.</p>}
      {waves.map((budget) => (
        <BudgetPanel key={rowKey(budget)} budget={budget} />
      ))}
    </article>
  );
}

/** The key of the chosen stage; empty if none is chosen. */
function chosenStage(): string {
  const { stage: id } = query.value;
  return id ? rowKey({ cluster: cluster.value, id }) : '';
}

function PipelineCard({ pipeline }: { pipeline: Pipeline }) {
  const { title, stages } = pipeline;
  const { release } = query.value;
  const stage = chosenStage();
  const known = stages.flatMap((key) => rows.value.get(key) ?? []);
  const last = lastMoved(known);
  const chosen = stages.includes(stage) ? rows.value.get(stage) : undefined;
  return (
    <section class="card panel pipeline" aria-label={`Stages from ${title} on`}>
      <h2 class="line">
        {title}
        {last?.runs && (
          <span class="meta">
            last: <span class="version">{last.runs.version}</span> {OUTCOMES[last.runs.outcome].text.toLowerCase()} in{' '}
            {rowKey(last)} <Ago time={movedAt(last)} />
          </span>
        )}
      </h2>
      <Graph pipeline={pipeline} />
      {chosen && <ChosenStage key={`${stage} ${release}`} row={chosen} release={release} />}
      <Matrix title={title} stages={known} />
    </section>
  );
}
