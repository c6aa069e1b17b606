/** What the OCI distribution specification accepts as a tag. Anything else is never written into a Flux object. */
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export function isLegalTag(tag: string): boolean {
  return TAG.test(tag);
}
