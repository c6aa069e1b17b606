/** How often each hook and webhook was asked, from `/metrics` of the hook server. */

/** Calls so far, by route: `/hooks/flux/sync`. */
export async function hookCalls(host: string): Promise<Map<string, number>> {
  const text = await (await fetch(`http://${host}/metrics`)).text();
  const calls = new Map<string, number>();
  const lines = text.matchAll(/^rollout_hooks_request_duration_seconds_count\{route="([^"]+)"[^}]*\} (\d+)$/gm);
  for (const [, route = '', count] of lines) calls.set(route, (calls.get(route) ?? 0) + Number(count));
  return calls;
}
