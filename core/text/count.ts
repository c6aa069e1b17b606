/** The number with its noun: `1 Rollout`, `2 Rollouts`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
