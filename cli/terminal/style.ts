/** Symbols, colors and times on a terminal. Each state has a symbol of its own, since there may be no colors. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { ApplicationState, Outcome, StepState } from '../../client/explain/application.ts';
import type { ExplainedState } from '../../client/explain/kinds/explanation.ts';
import { ageText, relativeText, whenText, withReadableTimes } from '../../client/explain/when.ts';
import { parseTime } from '../../core/kube/time.ts';
import { withFullStop } from '../../core/text/commands.ts';
import { wrapText } from './columns.ts';
import type { Paint } from './safe.ts';
import type { Terminal } from './terminal.ts';

export type TerminalTone = 'good' | 'bad' | 'busy' | 'quiet';

export interface Style {
  symbol(tone: TerminalTone): string;
  tone(tone: TerminalTone, text: string): string;
  strong(text: string): string;
  faint(text: string): string;
  /** The sentence with readable times. */
  text(sentence: string): string;
  /** `Mon 08:00 (in 3h52m)`. */
  when(time: string): string;
  /** `2d ago`. */
  ago(time: string): string;
  /** `2d`: the time since then. */
  age(time: string): string;
  branch: { mid: string; last: string; rail: string; gap: string };
  columns: number | undefined;
}

/** A sentence with readable times, as lines that fit the terminal. */
export function sentenceLines(context: OutputContext, text: string): string[] {
  return wrapText(styleOf(context).text(withFullStop(text)), context.terminal.columns());
}

interface OutputContext {
  terminal: Terminal;
  now(): EpochMs;
  timeZone: string;
}

const TONES: Record<TerminalTone, readonly [symbol: string, ascii: string, color: keyof Paint]> = {
  good: ['✔', 'v', 'green'],
  bad: ['✖', 'x', 'red'],
  busy: ['◷', '~', 'yellow'],
  quiet: ['○', 'o', 'dim'],
};

export function styleOf({ terminal, now, timeZone }: OutputContext): Style {
  const { paint, hasSymbols } = terminal;
  const at = now();
  const paintTone = (tone: TerminalTone, text: string) => paint[TONES[tone][2]](text);
  return {
    symbol: (tone) => paintTone(tone, TONES[tone][hasSymbols ? 0 : 1]),
    tone: paintTone,
    strong: paint.bold,
    faint: paint.dim,
    text: (sentence) => withReadableTimes(sentence, at, timeZone),
    when: (time) => readableTime(time, (found) => `${whenText(found, at, timeZone)} (${relativeText(found, at)})`),
    ago: (time) => readableTime(time, (found) => relativeText(found, at)),
    age: (time) => readableTime(time, (found) => ageText(at - found)),
    branch: hasSymbols
      ? { mid: '├─ ', last: '└─ ', rail: '│  ', gap: '   ' }
      : { mid: '|- ', last: '`- ', rail: '|  ', gap: '   ' },
    columns: terminal.columns(),
  };
}

/** A time in words. Text that is not a time is shown unchanged: any client may have written it. */
function readableTime(time: string, show: (at: number) => string): string {
  const at = parseTime(time);
  return at === undefined ? time : show(at);
}

export const STEP_TONES: Record<StepState, TerminalTone> = {
  passed: 'good',
  blocks: 'bad',
  waits: 'busy',
  failed: 'bad',
  unknown: 'quiet',
};

export const OUTCOME_TONES: Record<Outcome, TerminalTone> = {
  Deploying: 'busy',
  InProgress: 'busy',
  Succeeded: 'good',
  Failed: 'bad',
  Cancelled: 'quiet',
  Unknown: 'quiet',
};

export const EXPLAINED_TONES: Record<ExplainedState, TerminalTone> = {
  free: 'good',
  held: 'bad',
  underWay: 'busy',
  failed: 'bad',
};

export const STATE_TONES: Record<ApplicationState, TerminalTone> = {
  waits: 'busy',
  deploying: 'busy',
  baking: 'busy',
  failed: 'bad',
  done: 'good',
  empty: 'quiet',
  problem: 'bad',
};
