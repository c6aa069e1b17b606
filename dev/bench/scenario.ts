/** Benches and their figures, which are printed, and compared with limits and with another version. */
import type { LocalCluster } from '../local/cluster.ts';

export interface Figure {
  /** The heading of the figure. */
  group: string;
  name: string;
  value: number;
  unit: string;
  /** A larger value, or NaN, fails the bench. */
  limit?: number;
}

interface Run {
  cluster: LocalCluster;
  /** Sizes of the fleet, from the smallest. */
  rollouts: readonly number[];
  /** Values by option. */
  numbers: Readonly<Record<string, number>>;
}

export interface Scenario {
  /** The description in --help. */
  about: string;
  /** Numeric options with their defaults. */
  numbers: Readonly<Record<string, number>>;
  /** Default of --rollouts. */
  rollouts?: readonly number[];
  measure(run: Run): Promise<Figure[]>;
}

export const isAbove = ({ value, limit }: Figure): boolean => limit !== undefined && !(value <= limit);

export function asText(figures: readonly Figure[]): string {
  const lines = [...Map.groupBy(figures, ({ group }) => group)].flatMap(([group, all]) => [group, ...all.map(lineOf)]);
  return `${lines.join('\n')}\n`;
}

function lineOf(figure: Figure): string {
  const { name, value, unit, limit } = figure;
  const budget = limit === undefined ? '' : `   at most ${rounded(limit)}${isAbove(figure) ? ': ABOVE' : ''}`;
  return `  ${name.padEnd(56)} ${rounded(value).padStart(8)} ${unit}${budget}`;
}

export const rounded = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
