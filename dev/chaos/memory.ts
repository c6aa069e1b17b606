/** Checks whether the memory of a process is flat. */

/** Resident memory of a process at a time. */
export interface Sample {
  ms: number;
  name: string;
  pid: number;
  mib: number;
}

export interface MemoryLine {
  name: string;
  /** The time from the first sample to the last. */
  minutes: number;
  first: number;
  last: number;
  /** Slope of the regression line, and its standard error. */
  mibPerHour: number;
  error: number;
  trend: 'flat' | 'grows' | 'too short' | 'not checked';
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A process takes what it needs in its first minutes. */
const WARM_UP_MS = 15 * MINUTE_MS;
/** The shortest time for a meaningful line. */
const SHORTEST_MS = 30 * MINUTE_MS;
/** The slope that counts as flat, the larger of the two: garbage collection makes a flat line uneven. */
const SHARE_PER_HOUR = 0.1;
const MIB_PER_HOUR = 10;

/**
 * One line for each process, for its longest life (a restart begins another): at most the last hour, without the
 * warm-up. Memory is flat if the slope of the regression line, minus twice its standard error, is at most
 * SHARE_PER_HOUR of the mean per hour, or MIB_PER_HOUR. Only the processes in `checked` are checked.
 */
export function checkMemory(samples: readonly Sample[], checked: readonly string[]): MemoryLine[] {
  const lives = [...Map.groupBy(samples, ({ name, pid }) => `${name} ${pid}`).values()];
  const byName = Map.groupBy(lives, ([first]) => first!.name);
  return [...byName].map(([name, all]) => {
    const longest = all.map(lastHour).toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]!;
    const { mibPerHour, error } = lineThrough(longest);
    return {
      name,
      minutes: Math.round(lengthOf(longest) / MINUTE_MS),
      first: longest[0]?.mib ?? 0,
      last: longest.at(-1)?.mib ?? 0,
      mibPerHour,
      error,
      trend: checked.includes(name) ? trendOf(longest, mibPerHour - 2 * error) : 'not checked',
    };
  });
}

function lastHour(life: readonly Sample[]): Sample[] {
  const from = Math.max(life[0]!.ms + WARM_UP_MS, life.at(-1)!.ms - HOUR_MS);
  return life.filter(({ ms }) => ms >= from);
}

function trendOf(life: readonly Sample[], mibPerHour: number): MemoryLine['trend'] {
  if (lengthOf(life) < SHORTEST_MS) return 'too short';
  return mibPerHour <= Math.max(MIB_PER_HOUR, SHARE_PER_HOUR * mean(life, ({ mib }) => mib)) ? 'flat' : 'grows';
}

const lengthOf = (life: readonly Sample[]) => (life.at(-1)?.ms ?? 0) - (life[0]?.ms ?? 0);

/** The regression line through the samples (least squares). */
function lineThrough(life: readonly Sample[]): { mibPerHour: number; error: number } {
  const [x, y] = [mean(life, ({ ms }) => ms), mean(life, ({ mib }) => mib)];
  const sum = (of: (sample: Sample) => number) => life.reduce((total, sample) => total + of(sample), 0);
  const spread = sum(({ ms }) => (ms - x) ** 2);
  if (spread === 0 || life.length < 3) return { mibPerHour: 0, error: 0 };
  const slope = sum(({ ms, mib }) => (ms - x) * (mib - y)) / spread;
  const rest = sum(({ ms, mib }) => (mib - y - slope * (ms - x)) ** 2);
  return { mibPerHour: slope * HOUR_MS, error: Math.sqrt(rest / (life.length - 2) / spread) * HOUR_MS };
}

const mean = (life: readonly Sample[], of: (sample: Sample) => number) =>
  life.reduce((sum, sample) => sum + of(sample), 0) / life.length;
