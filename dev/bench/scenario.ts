/** What a bench is, and the figures that it gives: each is printed, held against its limit, and compared with those of another version. */
import type { LocalCluster } from '../local/cluster.ts';

export interface Figure {
  /** Figures of one group are printed below it. */
  group: string;
  name: string;
  value: number;
  unit: string;
  /** A larger value, or none, fails the bench. */
  limit?: number;
}

export interface Run {
  cluster: LocalCluster;
  /** One after the other, growing. */
  rollouts: readonly number[];
  /** By option. */
  numbers: Readonly<Record<string, number>>;
}

interface Described {
  /** For --help. */
  about: string;
  /** Numbers that it takes, by option, with their defaults. */
  numbers: Readonly<Record<string, number>>;
}

export interface ClusterScenario extends Described {
  /** Default of --rollouts, which takes several numbers. */
  rollouts?: readonly number[];
  /** False: nothing calls hooks, and statuses stay as they are written. */
  hooks?: false;
  measure(run: Run): Promise<Figure[]>;
}

/** A bench without a cluster. */
export interface LocalScenario extends Described {
  measureAlone(only: string): Promise<Figure[]>;
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
