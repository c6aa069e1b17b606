const WARNING = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Texts of `Warning: 299 - "text"` headers in Node's rawHeaders, unescaped, in order. */
export function warningsOf(rawHeaders: string[]): string[] {
  const texts: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'warning') continue;
    for (const match of (rawHeaders[i + 1] ?? '').matchAll(WARNING)) {
      texts.push((match[1] ?? '').replace(/\\(.)/g, '$1'));
    }
  }
  return texts;
}
