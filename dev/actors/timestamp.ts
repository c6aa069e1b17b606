/** A time in milliseconds as Kubernetes and `date -u +%Y-%m-%dT%H:%M:%SZ` write it, in whole seconds. */
export const timestamp = (at = Date.now()): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
