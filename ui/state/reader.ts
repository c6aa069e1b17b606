/** Reads the server's stream with fetch, because EventSource sends no key. */
import type { StreamEvents } from '../../client/board/pageMessages.ts';
import { Refused } from './refused.ts';
import { request } from './session.ts';

export type StreamEvent = {
  [Name in keyof StreamEvents]: readonly [name: Name, data: StreamEvents[Name]];
}[keyof StreamEvents];

/** The longest silence of a live connection: the server sends a heartbeat every fifteen seconds. */
const SILENCE_MS = 45_000;

/** Reads the stream, and calls `onEvents` for each chunk. @throws Refused or fetch's error when the stream ends */
export async function readStream(onEvents: (events: StreamEvent[]) => void, own: AbortController): Promise<never> {
  const silent = () => own.abort(new Refused(0, 'The server of this page no longer answers.'));
  let timer = setTimeout(silent, SILENCE_MS);
  try {
    const response = await request('/api/stream', { signal: own.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Refused(0, 'The server of this page has ended the stream.');
      clearTimeout(timer);
      timer = setTimeout(silent, SILENCE_MS);
      const frames = (rest + value).split('\n\n');
      rest = frames.pop()!;
      onEvents(frames.flatMap(eventOf));
    }
  } finally {
    clearTimeout(timer);
  }
}

function eventOf(frame: string): StreamEvent[] {
  const name = /^event: (\w+)$/m.exec(frame)?.[1];
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  return name && data !== undefined ? [[name, JSON.parse(data)] as unknown as StreamEvent] : [];
}
