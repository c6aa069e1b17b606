/** The header Retry-After (seconds or a date) in milliseconds; undefined without the header. */
export function retryAfterMs(header: string | string[] | null | undefined): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
