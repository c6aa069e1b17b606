/** Reads the server's stream with fetch, because EventSource sends no key. */
import { FRAME_END, parseFrame, type StreamEvent } from '../../client/board/streamFrames.ts';
import { Refused } from './refused.ts';
import { request } from './session.ts';

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
      const frames = (rest + value).split(FRAME_END);
      rest = frames.pop()!;
      onEvents(frames.flatMap(parseFrame));
    }
  } finally {
    clearTimeout(timer);
  }
}
