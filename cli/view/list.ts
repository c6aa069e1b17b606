/** Many applications, a line each: `-o wide`, and what `get` prints where a tree for each would be too long. */
import type { Application } from '../../client/explain/application.ts';
import { table } from '../terminal/layout.ts';
import { type Look, OUTCOME_TONES, STATE_TONES } from './look.ts';

/** `header`: only on the first page. */
export function applicationTable(
  apps: readonly Application[],
  look: Look,
  options: { isQualified: boolean; header: boolean },
): string[] {
  const rows = apps.map((app) => row(app, look, options.isQualified));
  const header = [...(options.isQualified ? ['NAMESPACE'] : []), 'NAME', 'RUNS', 'SINCE', 'WAITS', 'STATE', 'CAUSE'];
  return table(options.header ? [header, ...rows] : rows);
}

function row(app: Application, look: Look, isQualified: boolean): string[] {
  const { runs, waiting, causes, state, pinned } = app;
  return [
    ...(isQualified ? [app.namespace] : []),
    app.name,
    runs ? `${look.symbol(OUTCOME_TONES[runs.outcome])} ${runs.version}` : '-',
    runs ? look.age(runs.endedAt ?? runs.at) : '-',
    waiting?.version ?? '-',
    look.tone(STATE_TONES[state], state),
    state === 'done' && pinned === undefined ? '' : look.text(causes[0]?.text ?? ''),
  ];
}
