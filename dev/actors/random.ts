/** Pseudorandom numbers from 0 to 1 (mulberry32), the same for the same seed, and choices made with them. */
export interface Random {
  next(): number;
  /** A whole number from `least` to `most`. */
  integer(least: number, most: number): number;
  /** A key, with the probability of its weight. */
  weighted<K extends string>(weights: Partial<Record<K, number>>): K;
}

export function randomFrom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    integer: (least, most) => least + Math.floor(next() * (most - least + 1)),
    weighted: (weights) => {
      const entries = Object.entries(weights) as [string, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key as never;
      }
      return entries.at(-1)![0] as never;
    },
  };
}
