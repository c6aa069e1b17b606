/**
 * One stream for all tabs: a browser has six connections to one server, and a stream takes one for good. The tab that has the lock reads
 * it and tells the others. When it is closed, the next in line reads; from one that is frozen the lock is taken.
 */
import { SILENCE_MS, type StreamEvent } from './reader.ts';

export interface Told<State> {
  events: StreamEvent[];
  /** How the connection is. */
  state: State;
}

export interface Sharing<State> {
  /** Reads until the signal aborts, and tells what comes. */
  read(tell: (told: Told<State>) => void, signal: AbortSignal): void;
  /** In the tabs that do not read. */
  take(told: Told<State>): void;
  /** Everything that there is, for a tab that comes later. */
  all(): Told<State>;
  /** The reading tab is asked to try now. */
  retry(): void;
}

type Message<State> =
  /** A tab has nothing yet. */
  | { type: 'join'; from: string }
  | { type: 'all'; from: string; to: string; told: Told<State>; isSeen: boolean }
  | { type: 'told'; from: string; told: Told<State>; isSeen: boolean }
  | { type: 'retry' };

/** How long a tab that reads may take to answer. */
const ANSWER_MS = 3000;
/** Longer than the reading tab itself waits, so that after a sleep it goes on and nobody takes its place. */
const SILENT_MS = SILENCE_MS * 1.5;

/** `key`: tabs with another one are let in by themselves or not at all. */
export function share<State>(key: string, sharing: Sharing<State>, isDown: (state: State) => boolean): () => void {
  const own = crypto.randomUUID();
  const name = `rollouts ${key}`;
  const channel = new BroadcastChannel(name);
  let reading: AbortController | undefined;
  /** The tab that tells; nothing is taken from another one. */
  let teller: string | undefined;
  let isStealing = false;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const post = (message: Message<State>) => channel.postMessage(message);
  const isSeen = () => document.visibilityState === 'visible';

  /** In line for the lock; `steal`: before everybody else. Without it once it was stolen: then in line again. */
  const stand = (steal = false) => {
    const mine = new AbortController();
    const read = () => {
      clearTimeout(patience);
      isStealing = false;
      reading = mine;
      teller = own;
      sharing.read((told) => {
        if (!mine.signal.aborted) post({ type: 'told', from: own, told, isSeen: isSeen() });
      }, mine.signal);
      // For as long as the tab is there.
      return new Promise<never>(() => {});
    };
    navigator.locks.request(name, { steal }, read).catch(() => {
      mine.abort();
      if (reading !== mine) return;
      reading = undefined;
      teller = undefined;
      stand();
      join();
    });
  };

  const steal = () => {
    if (reading || isStealing) return;
    isStealing = true;
    stand(true);
  };

  const join = () => {
    post({ type: 'join', from: own });
    waitFor(ANSWER_MS);
  };

  /** Only a tab that is seen takes the lock from another one: those that are not are slow themselves. */
  const waitFor = (ms: number) => {
    clearTimeout(patience);
    patience = setTimeout(() => (isSeen() ? steal() : waitFor(ms)), ms);
  };

  channel.addEventListener('message', ({ data }: MessageEvent<Message<State>>) => {
    if (data.type === 'join' && reading) {
      post({ type: 'all', from: own, to: data.from, told: sharing.all(), isSeen: isSeen() });
    } else if (data.type === 'retry' && reading) sharing.retry();
    else if (data.type === 'all' && data.to === own && !reading) {
      teller = data.from;
      hear(data);
    } else if (data.type === 'told' && !reading) {
      const begins = data.told.events.some(([event]) => event === 'reset');
      if (begins) teller = data.from;
      if (data.from === teller) hear(data);
    }
  });

  const hear = ({ told, isSeen: isTellerSeen }: { told: Told<State>; isSeen: boolean }) => {
    sharing.take(told);
    // A hidden tab tries again once a minute; somebody who looks should not wait for that.
    if (isDown(told.state) && !isTellerSeen && isSeen()) steal();
    else waitFor(SILENT_MS);
  };

  stand();
  join();
  return () => {
    if (reading) sharing.retry();
    else {
      post({ type: 'retry' });
      join();
    }
  };
}
