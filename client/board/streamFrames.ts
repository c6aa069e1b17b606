/** Messages of the page's stream as server-sent events: how the server writes them, and how the page reads them. */
import type { StreamEvents } from './pageMessages.ts';

export type StreamEvent = {
  [Name in keyof StreamEvents]: readonly [name: Name, data: StreamEvents[Name]];
}[keyof StreamEvents];

/** The end of each message. JSON escapes line feeds, so no message has it inside. */
export const FRAME_END = '\n\n';
const [EVENT, DATA] = ['event: ', 'data: '];

export function formatFrame<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): string {
  return `${EVENT}${event}\n${DATA}${JSON.stringify(data)}${FRAME_END}`;
}

/** The event of a message without its end; empty for a heartbeat. */
export function parseFrame(frame: string): StreamEvent[] {
  // Only a line feed ends a line: users' text may have U+2028, at which `$` and `.` of a pattern would stop.
  const [event = '', data = ''] = frame.split('\n');
  if (!event.startsWith(EVENT) || !data.startsWith(DATA)) return [];
  return [[event.slice(EVENT.length), JSON.parse(data.slice(DATA.length))] as unknown as StreamEvent];
}
