import { expect, it } from 'vitest';
import { createStory, terminalOf } from '../../../../dev/local/demo/story.ts';

const told = (columns: number): string[] => {
  let text = '';
  const story = createStory((more) => (text += more), { colours: false, columns });
  const long = 'Kustomization my-app has APP_VERSION=1.0.0, '.repeat(5);
  story.say(long);
  story.quote(long);
  story.seen(long);
  return text.trimEnd().split('\n');
};

it.each([60, 80, 110])('a story keeps within %i columns', (columns) => {
  expect(Math.max(...told(columns).map((line) => line.length))).toBeLessThanOrEqual(columns);
});

it.each([
  { to: 'a terminal', out: { isTTY: true, columns: 80 }, env: {}, colours: true },
  { to: 'a terminal with NO_COLOR', out: { isTTY: true, columns: 80 }, env: { NO_COLOR: '1' }, colours: false },
  { to: 'a dumb terminal', out: { isTTY: true, columns: 80 }, env: { TERM: 'dumb' }, colours: false },
  { to: 'a pipe', out: {}, env: {}, colours: false },
])('colours to $to: $colours', ({ out, env, colours }) => {
  expect(terminalOf(out, env).colours).toBe(colours);
});
