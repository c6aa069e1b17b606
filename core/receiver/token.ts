/** The token in a Secret, as its bytes: it need not be text. */

/** Empty for what is missing or is not base64. */
export function tokenBytes(data: string | undefined): Uint8Array {
  try {
    return Uint8Array.from(atob(data ?? ''), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
