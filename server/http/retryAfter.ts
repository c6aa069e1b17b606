/** Milliseconds of the header Retry-After, seconds or a date; 0 without one. */
export function retryAfterMs(header: string | null | undefined, now: number): number {
  if (!header) return 0;
  const ms = /^[0-9]{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Math.max(ms || 0, 0);
}
