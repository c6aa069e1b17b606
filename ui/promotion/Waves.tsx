/** A budget: its slots, and the progress of each version in its waves. */
import type { BudgetVersionView, BudgetView, WaveState, WaveView } from '../../client/board/budgetView.ts';
import { countOf } from '../../core/text/count.ts';
import { Badge } from '../elements/Badge.tsx';
import { Icon } from '../elements/Icon.tsx';
import { EXPLAINED, type Look, type Tone } from '../elements/words.ts';
import { Sentence } from '../parts/Sentence.tsx';
import { linkTo } from '../state/route.ts';

const LOOKS: Record<WaveState, Look> = {
  done: { text: 'done', icon: 'done', tone: 'good' },
  underWay: { text: 'rolling out', icon: 'rolling', tone: 'busy' },
  failed: { text: 'failed', icon: 'failed', tone: 'bad' },
  waits: { text: 'waits', icon: 'waits', tone: 'held' },
  idle: { text: 'not requested yet', icon: 'empty', tone: 'calm' },
};

export function BudgetPanel({ budget }: { budget: BudgetView }) {
  const { cluster, id, kind, namespace, name, headline, state, causes, label, versions, slots } = budget;
  const look = EXPLAINED[state];
  const title = `${kind} ${id}${cluster ? ` in ${cluster}` : ''}`;
  return (
    <section class="card panel" aria-label={title}>
      <h2 class="line">
        {namespace ? <a href={linkTo.object({ kind, namespace, name }, cluster)}>{title}</a> : title}{' '}
        <Badge tone={look.tone} icon={look.icon}>
          {headline}
        </Badge>
      </h2>
      {state === 'held' &&
        causes.map((text) => (
          <p key={text}>
            <Sentence text={text} />
          </p>
        ))}
      {versions.length === 0 && <p class="meta">No version is rolling out.</p>}
      {versions.map((version) => (
        <Version key={`${version.image} ${version.version}`} version={version} label={label} />
      ))}
      {slots.length > 0 && (
        <p class="meta slots">
          Rolling out:{' '}
          {slots.map(({ rollout, version, state }, index) => (
            <span key={rollout}>
              {index > 0 && ', '}
              <a href={linkTo.rollout(rollout, cluster ? { cluster } : {})}>{rollout}</a>{' '}
              <span class="version">{version}</span> {state.toLowerCase()}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function Version({ version: of, label }: { version: BudgetVersionView; label: string | undefined }) {
  const { version, image, blocked, failed, continuedBy, waves } = of;
  return (
    <div class="budget-version">
      <h3 class="line">
        <span class="version">{version}</span> of {image.split('/').at(-1)}{' '}
        {blocked && (
          <Badge tone="bad" icon="gate">
            blocked after {countOf(failed, 'failure')}
          </Badge>
        )}
        {continuedBy && ` · continued by ${continuedBy}`}
      </h3>
      {waves.length > 0 ? (
        <ol class="waves" tabIndex={0} aria-label={`Waves of ${version}${label ? ` by ${label}` : ''}`}>
          {waves.map((wave) => (
            <Wave key={wave.value} wave={wave} isOnly={waves.length === 1} />
          ))}
        </ol>
      ) : (
        <p class="meta">
          {failed > 0 ? `It has failed in ${failed}, and no Rollout requests it now.` : 'No Rollout requests it now.'}
        </p>
      )}
    </div>
  );
}

function Wave({ wave, isOnly }: { wave: WaveView; isOnly: boolean }) {
  const { value, state, total, done, underWay, waiting, failed } = wave;
  const look = LOOKS[state];
  const parts: [Tone, number][] = [
    ['good', done],
    ['busy', underWay],
    ['bad', failed],
  ];
  const texts = [
    `${done}/${total} done`,
    ...(underWay > 0 ? [`${underWay} rolling out`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
  ];
  return (
    <li class={`card edge wave tone-${look.tone}`}>
      <strong class="line">
        <Icon name={look.icon} size={13} label={look.text} /> {value || (isOnly ? 'all' : 'the others')}
      </strong>
      <span class="wave-bar" aria-hidden="true">
        {parts.map(
          ([tone, count]) =>
            count > 0 && (
              <span key={tone} class={`tone-${tone}`} style={{ width: `${(100 * count) / Math.max(total, 1)}%` }} />
            ),
        )}
      </span>
      <span class="meta">{texts.join(', ')}</span>
    </li>
  );
}
