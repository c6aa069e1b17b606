/**
 * What a way through a task takes of a person: steps, keystrokes, and seconds by the keystroke-level model of Card, Moran and Newell
 * (Communications of the ACM 23:7, 1980): a thought before each step, a time for each key, for pointing and for a click.
 */
import type { PageStep } from './tasks.ts';

export interface Effort {
  /** Commands, or clicks, keys and fields. */
  steps: number;
  /** Keys pressed; a click is none. */
  keystrokes: number;
  /** Without what the machine takes. */
  seconds: number;
}

const THOUGHT_S = 1.35;
/** An average typist, 55 words a minute. */
const KEY_S = 0.2;
const POINT_AND_CLICK_S = 1.3;

/** What `<now>` stands for in a command. */
const NOW = '$(date -u +%Y-%m-%dT%H:%M:%SZ)';

/** Each with its Enter. */
export function effortOfCommands(commands: readonly string[]): Effort {
  const typed = commands.map((command) => command.trimEnd().replaceAll('<now>', NOW).length + 1);
  return sum(typed.map((keys) => ({ keystrokes: keys, seconds: THOUGHT_S + keys * KEY_S })));
}

export function effortOfPage(steps: readonly PageStep[]): Effort {
  return sum(
    steps.map((step) => {
      if ('type' in step) {
        const keys = step.type.text.length;
        return { keystrokes: keys, seconds: THOUGHT_S + POINT_AND_CLICK_S + keys * KEY_S };
      }
      if ('key' in step) return { keystrokes: 1, seconds: THOUGHT_S + KEY_S };
      return { keystrokes: 0, seconds: THOUGHT_S + POINT_AND_CLICK_S };
    }),
  );
}

function sum(parts: readonly Omit<Effort, 'steps'>[]): Effort {
  return {
    steps: parts.length,
    keystrokes: parts.reduce((total, { keystrokes }) => total + keystrokes, 0),
    seconds: parts.reduce((total, { seconds }) => total + seconds, 0),
  };
}
