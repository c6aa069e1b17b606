import { expect, it } from 'vitest';
import type { StreamEvents } from '../../../client/board/pageMessages.ts';
import { FRAME_END, formatFrame, parseFrame } from '../../../client/board/streamFrames.ts';

/** A change of a Gate whose reason a user has written. */
const changeWith = (reason: string) => ({ set: [{ reason }], gone: [] }) as unknown as StreamEvents['gates'];

it.each([
  ['an event of its own', 'x\n\nevent: reset\ndata: {}\n\n'],
  ['line breaks of JavaScript', 'a\u2028b\u2029c\u0085d\re'],
  ['half of a character', 'a\ud800'],
])('a reason with %s is one message, read as it was written', (_, reason) => {
  const [frame, ...rest] = formatFrame('gates', changeWith(reason)).split(FRAME_END);
  expect(rest).toEqual(['']);
  expect(parseFrame(frame!)).toEqual([['gates', changeWith(reason)]]);
});

it('a heartbeat is no event', () => {
  expect(parseFrame(': beat')).toEqual([]);
});
