/** Command lines as a POSIX shell splits them. */

/** Trailing words in our command lines that say when to run them. */
const TIME = '$(date -u +%Y-%m-%dT%H:%M:%SZ)';
const MANIFEST = " <<'EOF'\n";

/**
 * The words of a line; a manifest after it, for kubectl create, is the last one.
 * @throws for anything in it that a shell would do more with than take it as text
 */
export function words(text: string): string[] {
  const [line = '', manifest] = text.split(MANIFEST);
  const found: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; ) {
    const rest = line.slice(at);
    const quote = /^'([^']*)'/.exec(rest);
    const own = [`"${TIME}"`, '"<why>"'].find((each) => rest.startsWith(each));
    if (quote) word = (word ?? '') + quote[1];
    else if (own) word = (word ?? '') + own.slice(1, -1);
    else if (rest.startsWith("\\'")) word = `${word ?? ''}'`;
    else if (rest.startsWith(' ')) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (/^[\w@+:,./=-]/.test(rest)) word = (word ?? '') + rest[0];
    else throw new Error(`${JSON.stringify(rest.slice(0, 10))} is not text in: ${line}`);
    at += quote ? quote[0].length : own ? own.length : rest.startsWith("\\'") ? 2 : 1;
  }
  if (word !== undefined) found.push(word);
  return manifest === undefined ? found : [...found, manifestOf(manifest)];
}

function manifestOf(text: string): string {
  const lines = text.split('\n');
  if (lines.indexOf('EOF') !== lines.length - 1) throw new Error(`no manifest, or more than one: ${text}`);
  return JSON.stringify(JSON.parse(lines.slice(0, -1).join('\n')));
}
