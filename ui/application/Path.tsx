/** The path of a release, from left to right, or down on a phone: its blockers, the Flux objects, their health. */
import type { Application, Step } from '../../client/explain/application.ts';
import { isOfDeployedVersion } from '../../client/explain/application.ts';
import { STEP_KINDS, type StepKind } from '../../client/explain/stepKinds.ts';
import { Icon, type IconName } from '../elements/Icon.tsx';
import { STEPS, type Tone } from '../elements/words.ts';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago, For, Until } from '../parts/Time.tsx';
import { linkTo } from '../state/route.ts';
import { MetricChart } from './MetricChart.tsx';

export function Path({ application }: { application: Application }) {
  const { steps, waiting, runs, releases, pinned } = application;
  const of = (...kinds: StepKind[]) => steps.filter(({ kind }) => kinds.includes(kind));
  const between = steps.filter(({ kind }) => !STEP_KINDS[kind].ofDeployment);
  const version = waiting?.version ?? runs?.version.tag;
  return (
    <ol class="path">
      <Column title="Release">
        {version ? (
          <Node icon="release" tone={waiting ? 'held' : 'good'} title={version} isVersion>
            {waiting ? (
              <span>
                {waiting.requested ? `requested by ${waiting.requested.by} ` : 'seen '}
                <Ago time={waiting.requested?.at ?? waiting.firstSeen} />
              </span>
            ) : pinned ? (
              `pinned: nothing newer of ${releases} is deployed`
            ) : (
              `the newest of ${releases} that may be deployed`
            )}
          </Node>
        ) : (
          <Node icon="release" tone="calm" title="none yet" />
        )}
      </Column>
      <Column title="Before it is deployed">
        {between.length > 0 ? (
          between.map((step) => <StepNode key={step.id} step={step} />)
        ) : version ? (
          <Node icon="done" tone="good" title="Nothing blocks it" />
        ) : (
          <Node icon="empty" tone="calm" title="No version" />
        )}
      </Column>
      <Column title="Flux">
        {of('binding').length > 0 ? (
          of('binding').map((step) => <StepNode key={step.id} step={step} waiting={waiting?.version} />)
        ) : (
          <Node icon="object" tone="calm" title="No bound object" />
        )}
      </Column>
      <Column title="Health and bake">
        {of('check', 'bake').length > 0 ? (
          of('check', 'bake').map((step) => <StepNode key={step.id} step={step} waiting={waiting?.version} />)
        ) : (
          <Node icon="heart" tone="calm" title="No bake">
            a version is done once it is deployed
          </Node>
        )}
      </Column>
    </ol>
  );
}

function Column({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <li class="path-column">
      <h3>{title}</h3>
      <div class="stack">{children}</div>
    </li>
  );
}

/** One step. `waiting`: the version that waits: steps that the deployed one has passed are not its own. */
function StepNode({ step, waiting }: { step: Step; waiting?: string | undefined }) {
  const { state, title, kind, detail, object, by, reason, until, since, metric } = step;
  const look = STEPS[state];
  const isEarlier = isOfDeployedVersion(step, waiting);
  const tone: Tone = isEarlier
    ? 'calm'
    : state === 'blocks' && (kind === 'failure' || kind === 'check')
      ? 'bad'
      : look.tone;
  const to = object?.namespace ? linkTo.object(object) : undefined;
  return (
    <Node
      icon={STEP_KINDS[kind].icon}
      tone={tone}
      title={title}
      to={to}
      hiddenText={isEarlier ? 'of the version that runs' : look.text}
    >
      {detail && (
        <span>
          <Sentence text={detail} />
        </span>
      )}
      {by && state !== 'passed' && kind !== 'gate' && (
        <span>
          by {by}
          {reason && `: ${reason}`}
        </span>
      )}
      {until ? <Until time={until} /> : since && state !== 'passed' ? <For since={since} /> : null}
      {metric && <MetricChart metric={metric} />}
    </Node>
  );
}

interface NodeProps {
  icon: IconName;
  tone: Tone;
  title: string;
  to?: string | undefined;
  hiddenText?: string;
  isVersion?: boolean;
  children?: preact.ComponentChildren;
}

function Node({ icon, tone, title, to, hiddenText, isVersion, children }: NodeProps) {
  return (
    <div class={`node tone-${tone}`}>
      <span class="tile">
        <Icon name={icon} size={14} />
      </span>
      <div class="stack tight node-text">
        <strong class={isVersion ? 'version' : undefined}>{to ? <a href={to}>{title}</a> : title}</strong>
        {hiddenText && <span class="hidden">{hiddenText}</span>}
        {children}
      </div>
    </div>
  );
}
