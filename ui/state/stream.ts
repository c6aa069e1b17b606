/** What the one stream says, as signals: rows, Gates, schedules, budgets and the state of the watches. */
import { batch, type Signal, signal } from '@preact/signals';
import type { BudgetView } from '../../client/board/budgetView.ts';
import type { Hello, KindState, StreamEvents } from '../../client/board/pageMessages.ts';
import type { GateView, ScheduleView } from '../../client/board/planViews.ts';
import type { Row } from '../../client/board/row.ts';
import { readStream, type StreamEvent } from './reader.ts';
import { Refused, token } from './session.ts';
import { share, type Told } from './sharing.ts';

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

const RETRY_MS = [250, 8000] as const;

interface State {
  connection: Connection;
  trouble: string;
}

let current: AbortController | undefined;
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let tell: ((told: Told<State>) => void) | undefined;
let tryNow: (() => void) | undefined;

export function connect(): void {
  tryNow = share<State>(
    token,
    {
      read(told, signal) {
        tell = told;
        signal.addEventListener('abort', () => {
          tell = undefined;
          clearTimeout(retry);
          current?.abort();
        });
        begin();
      },
      take({ events, state }) {
        batch(() => {
          events.forEach(take);
          setState(state);
        });
      },
      all: () => ({ events: everything(), state: state() }),
      retry: begin,
    },
    (state) => state.connection === 'lost',
  );
  window.addEventListener('online', open);
}

/** Now, instead of after the pause. */
export function open(): void {
  tryNow?.();
}

/** In the tab that reads the stream. */
function begin(): void {
  clearTimeout(retry);
  current?.abort();
  const own = new AbortController();
  current = own;
  void readStream(heard, own).catch((error: Error) => {
    if (current !== own || !tell) return;
    current = undefined;
    const isRefused = error instanceof Refused && error.status !== 0;
    batch(() => setState({ connection: isRefused ? 'refused' : 'lost', trouble: error.message }));
    tell({ events: [], state: state() });
    if (!isRefused) retry = setTimeout(begin, Math.min(RETRY_MS[0] * 2 ** failures++, RETRY_MS[1]));
  });
}

function heard(events: StreamEvent[]): void {
  failures = 0;
  batch(() => events.forEach(take));
  tell?.({ events, state: state() });
}

function state(): State {
  return { connection: connection.value, trouble: trouble.value };
}

function setState(state: State): void {
  connection.value = state.connection;
  trouble.value = state.trouble;
}

/** Filled after a reset, and shown as a whole: a reconnection must not empty the page for a moment. */
let fresh: Map<Signal, Map<string, unknown>> | undefined;

function take([name, data]: StreamEvent): void {
  HANDLERS[name]?.(data as never);
}

/** What there is, as the server would send it to a new page. While a reset is being filled: what has come of it. */
function everything(): StreamEvent[] {
  const of = <T>(signal: Signal<ReadonlyMap<string, T>>) => {
    const found = (fresh?.get(signal) as ReadonlyMap<string, T> | undefined) ?? signal.value;
    return { set: [...found.values()], gone: [] };
  };
  return [
    ...(hello.value ? [['hello', hello.value] as const] : []),
    ['reset', {}],
    ['kinds', [...kinds.value]],
    ['gates', of(gates)],
    ['schedules', of(schedules)],
    ['budgets', of(budgets)],
    ['rows', of(rows)],
    ...(fresh || !isComplete.value ? [] : [['complete', { rows: rows.value.size }] as const]),
  ];
}

const HANDLERS: { [Name in keyof StreamEvents]: (data: StreamEvents[Name]) => void } = {
  hello: (data) => {
    hello.value = data;
    connection.value = 'live';
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
