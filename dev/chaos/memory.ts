/** Whether the memory of a process is flat. */

/** What a process had in memory at some time. */
export interface Sample {
  ms: number;
  name: string;
  pid: number;
  mib: number;
}

export interface MemoryLine {
  name: string;
  /** How long the life that was judged was looked at. */
  minutes: number;
  first: number;
  last: number;
  /** Of the line through its samples, and the standard error of that. */
  mibPerHour: number;
  error: number;
  verdict: 'flat' | 'grows' | 'too short' | 'not judged';
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A process takes what it needs in its first minutes. */
const WARM_UP_MS = 15 * MINUTE_MS;
/** Of less than that a line says nothing. */
const SHORTEST_MS = 30 * MINUTE_MS;
/** What the line of a flat process may rise by in an hour, the larger of the two: nobody asks a garbage collector when. */
const SHARE_PER_HOUR = 0.1;
const MIB_PER_HOUR = 10;

/**
 * One line for each process, of that of its lives (a restart begins another) which was looked at for longest: at most its last hour, without
 * its warm-up. It is flat where the line of least squares through it rises by no more than SHARE_PER_HOUR of its mean in an hour, or
 * MIB_PER_HOUR, and twice its standard error: what the teeth of a garbage collector make of a flat line. Only those in `judged` are judged.
 */
export function judgeMemory(samples: readonly Sample[], judged: readonly string[]): MemoryLine[] {
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
      verdict: judged.includes(name) ? verdictOf(longest, mibPerHour - 2 * error) : 'not judged',
    };
  });
}

function lastHour(life: readonly Sample[]): Sample[] {
  const from = Math.max(life[0]!.ms + WARM_UP_MS, life.at(-1)!.ms - HOUR_MS);
  return life.filter(({ ms }) => ms >= from);
}

function verdictOf(life: readonly Sample[], mibPerHour: number): MemoryLine['verdict'] {
  if (lengthOf(life) < SHORTEST_MS) return 'too short';
  return mibPerHour <= Math.max(MIB_PER_HOUR, SHARE_PER_HOUR * mean(life, ({ mib }) => mib)) ? 'flat' : 'grows';
}

const lengthOf = (life: readonly Sample[]) => (life.at(-1)?.ms ?? 0) - (life[0]?.ms ?? 0);

/** That of least squares. */
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
