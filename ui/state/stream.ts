/** The one stream: rows, Gates and the state of the watches as signals. Read by fetch, because EventSource sends no key. */
import { batch, type Signal, signal } from '@preact/signals';
import type { GateView } from '../../core/board/bands.ts';
import type { BudgetView } from '../../core/board/budgets.ts';
import type { Hello, KindState, StreamEvents } from '../../core/board/messages.ts';
import type { Row } from '../../core/board/row.ts';
import type { ScheduleView } from '../../core/board/schedules.ts';
import { Refused, request } from './session.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export const connection = signal<Connection>('connecting');
/** What the server said when it refused, or that it does not answer. */
export const trouble = signal('');
export const hello = signal<Hello | undefined>(undefined);
export const kinds = signal<readonly KindState[]>([]);
export const isComplete = signal(false);
/** By id. A new Map for each message: what depends on it is computed again once. */
export const rows = signal<ReadonlyMap<string, Row>>(new Map());
export const gates = signal<ReadonlyMap<string, GateView>>(new Map());
export const schedules = signal<ReadonlyMap<string, ScheduleView>>(new Map());
export const budgets = signal<ReadonlyMap<string, BudgetView>>(new Map());
/** For screen readers: what changed, in few words. */
export const announcement = signal('');

/** A browser has six connections to one server: a tab that nobody sees gives its own back. */
const HIDDEN_MS = 20_000;
const SILENCE_MS = 45_000;
const RETRY_MS = [250, 8000] as const;

let current: AbortController | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let hidden: ReturnType<typeof setTimeout> | undefined;

export function connect(): void {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hidden);
    if (document.visibilityState === 'hidden') hidden = setTimeout(() => current?.abort(), HIDDEN_MS);
    else if (!current) open();
  });
  window.addEventListener('online', () => !current && open());
  open();
}

/** Now, instead of after the pause. */
export function open(): void {
  clearTimeout(retry);
  current?.abort();
  const own = new AbortController();
  current = own;
  void read(own).catch((error: Error) => {
    if (current === own) current = undefined;
    const isRefused = error instanceof Refused && error.status !== 0;
    if (own.signal.aborted && document.visibilityState === 'hidden') return;
    batch(() => {
      connection.value = isRefused ? 'refused' : 'lost';
      trouble.value = error.message;
    });
    if (isRefused) return;
    retry = setTimeout(open, Math.min(RETRY_MS[0] * 2 ** failures++, RETRY_MS[1]));
  });
}

async function read(own: AbortController): Promise<never> {
  const silence = setTimeout(() => own.abort(), SILENCE_MS);
  let timer = silence;
  try {
    const response = await request('/api/stream', { signal: own.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Refused(0, 'The server of this page has ended the stream.');
      clearTimeout(timer);
      timer = setTimeout(() => own.abort(), SILENCE_MS);
      const frames = (rest + value).split('\n\n');
      rest = frames.pop()!;
      batch(() => frames.forEach(take));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Filled after a reset, and shown as a whole: a reconnection must not empty the page for a moment. */
let fresh: Map<Signal, Map<string, unknown>> | undefined;

function take(frame: string): void {
  const name = /^event: (\w+)$/m.exec(frame)?.[1] as keyof StreamEvents | undefined;
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  if (!name || data === undefined) return;
  HANDLERS[name]?.(JSON.parse(data) as never);
}

const HANDLERS: { [Name in keyof StreamEvents]: (data: StreamEvents[Name]) => void } = {
  hello: (data) => {
    hello.value = data;
    connection.value = 'live';
    failures = 0;
  },
  reset: () => {
    fresh = new Map(ALL.map((each) => [each, new Map()]));
  },
  kinds: (data) => {
    kinds.value = data;
  },
  rows: (change) => {
    merge(rows, change);
    if (!fresh && change.set.length > 0) announcement.value = told(change.set);
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
  { set, gone }: { set: readonly T[]; gone: readonly string[] },
): void {
  const next = (fresh?.get(into) as Map<string, T> | undefined) ?? new Map(into.value);
  for (const each of set) next.set(each.id, each);
  for (const id of gone) next.delete(id);
  // The first screenful of a first visit is not kept waiting for the rest.
  if (!fresh || !isComplete.value) into.value = fresh ? new Map(next) : next;
}

function told(set: readonly Row[]): string {
  const [first, ...others] = set;
  if (!first) return '';
  return others.length > 2
    ? `${set.length} applications changed`
    : set.map(({ name, headline }) => `${name}: ${headline}`).join('; ');
}
