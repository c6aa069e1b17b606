/** Rows of the board, as the promotion page reads them. */
import { type Row, rowKey } from '../../../client/board/row.ts';
import type { Outcome } from '../../../client/explain/application.ts';

export function row(name: string, rest: Partial<Row> = {}): Row {
  return {
    id: `shop/${name}`,
    namespace: 'shop',
    name,
    labels: {},
    state: 'done',
    headline: '',
    gates: [],
    strip: [],
    after: [],
    ...rest,
  };
}

export const follows = (...names: string[]) => ({ after: names.map((name) => `shop/${name}`) });

/** Deployments, oldest first: `1.0.0 at 08:00`. */
export function ran(...deployments: [version: string, hour: string, outcome?: Outcome][]): Partial<Row> {
  const strip = deployments.map(([version, hour, outcome = 'Succeeded'], index) => ({
    id: index + 1,
    version,
    outcome,
    at: `2026-11-22T${hour}:00Z`,
  }));
  return { strip, runs: strip.at(-1)! };
}

export const rowsOf = (...rows: Row[]) => new Map(rows.map((each) => [rowKey(each), each]));
