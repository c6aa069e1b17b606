/** The server's stream, and its data as signals: rows, Gates, schedules, budgets and the state of the watches. */
import { batch, type Signal, signal } from '@preact/signals';
import type { BudgetView } from '../../client/board/budgetView.ts';
import type { Change, Hello, KindState, StreamEvents } from '../../client/board/pageMessages.ts';
import type { GateView, ScheduleView } from '../../client/board/planViews.ts';
import { type Row, rowKey } from '../../client/board/row.ts';
import { FRAME_END, parseFrame, type StreamEvent } from '../../client/board/streamFrames.ts';
import { Refused } from './refused.ts';
import { request } from './session.ts';

type StreamState = 'connecting' | 'live' | 'lost' | 'refused';

export const connection = signal<StreamState>('connecting');
/** The message if the stream is lost or refused. */
export const trouble = signal('');
/** The address of the sign-in, if the server refuses the stream without a session. */
export const signIn = signal<string | undefined>(undefined);
export const hello = signal<Hello | undefined>(undefined);
export const kinds = signal<readonly KindState[]>([]);
export const isComplete = signal(false);
/** The rows by key, in a new Map for each message, so that dependent signals are computed once. */
export const rows = signal<ReadonlyMap<string, Row>>(new Map());
export const gates = signal<ReadonlyMap<string, GateView>>(new Map());
export const schedules = signal<ReadonlyMap<string, ScheduleView>>(new Map());
export const budgets = signal<ReadonlyMap<string, BudgetView>>(new Map());
/** The last change in a few words, for screen readers. */
export const announcement = signal('');

const [MIN_RETRY_MS, MAX_RETRY_MS] = [250, 8000];

let current: AbortController | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Keeps a stream open while the tab is visible, since a browser has only six connections to one server. */
export function startStream(): void {
  document.addEventListener('visibilitychange', reconnect);
  window.addEventListener('online', reconnect);
  reconnect();
}

/** Opens a new stream without a pause. In a hidden tab it only ends the current one. */
export function reconnect(): void {
  clearTimeout(retry);
  current?.abort();
  current = undefined;
  if (document.visibilityState === 'hidden') return;
  const own = new AbortController();
  current = own;
  void readStream(handleEvents, own).catch((error: Error) => {
    if (current !== own) return;
    const isRefused = error instanceof Refused && error.isFinal;
    batch(() => {
      connection.value = isRefused ? 'refused' : 'lost';
      trouble.value = error.message;
      signIn.value = isRefused ? error.signIn : undefined;
    });
    if (!isRefused) retry = setTimeout(reconnect, Math.min(MIN_RETRY_MS * 2 ** failures++, MAX_RETRY_MS));
  });
}

/** The longest silence of a live connection: the server sends a heartbeat every fifteen seconds. */
const SILENCE_MS = 45_000;

/**
 * Reads the stream, and calls `onEvents` for each chunk. With fetch, because EventSource sends no key.
 * @throws Refused or fetch's error when the stream ends
 */
async function readStream(onEvents: (events: StreamEvent[]) => void, own: AbortController): Promise<never> {
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

function handleEvents(events: StreamEvent[]): void {
  failures = 0;
  batch(() => {
    for (const [name, data] of events) HANDLERS[name]?.(data as never);
  });
}

/** The content after a reset, shown once it is complete, so that a reconnection doesn't empty the page. */
let fresh: Map<Signal, Map<string, unknown>> | undefined;

const HANDLERS: { [Name in keyof StreamEvents]: (data: StreamEvents[Name]) => void } = {
  hello: (data) => {
    hello.value = data;
    connection.value = 'live';
  },
  reset: () => {
    kinds.value = [];
    fresh = new Map(ALL.map((each) => [each, new Map()]));
  },
  kinds: (data) => {
    const others = kinds.value.filter((each) => data.every(({ cluster }) => cluster !== each.cluster));
    kinds.value = [...others, ...data];
  },
  rows: (change) => {
    merge(rows, change);
    if (!fresh && change.set.length > 0) announcement.value = changeText(change.set);
  },
  gates: (change) => merge(gates, change),
  schedules: (change) => merge(schedules, change),
  budgets: (change) => merge(budgets, change),
  complete: () => {
    for (const [each, filled] of fresh ?? []) each.value = filled;
    fresh = undefined;
    isComplete.value = true;
  },
};

const ALL: readonly Signal[] = [rows, gates, schedules, budgets];

function merge<T extends { id: string }>(
  into: Signal<ReadonlyMap<string, T>>,
  { cluster, set, gone }: Change<T>,
): void {
  const next = (fresh?.get(into) as Map<string, T> | undefined) ?? new Map(into.value);
  for (const each of set)
    next.set(rowKey({ cluster, id: each.id }), cluster === undefined ? each : { ...each, cluster });
  for (const id of gone) next.delete(rowKey({ cluster, id }));
  // On the first visit, rows are shown as they arrive.
  if (!fresh || !isComplete.value) into.value = fresh ? new Map(next) : next;
}

function changeText(set: readonly Row[]): string {
  const [first, ...others] = set;
  if (!first) return '';
  return others.length > 2
    ? `${set.length} applications changed`
    : set.map(({ name, headline }) => `${name}: ${headline}`).join('; ');
}
