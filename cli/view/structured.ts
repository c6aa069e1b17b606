/** `-o json` and `-o yaml`: what a command shows, as data for programs. No character in it is more than text to a terminal. */
import { escaped, isUnsafe } from '../terminal/safe.ts';

export async function structured(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  return format === 'json' ? escaped(JSON.stringify(value, undefined, 2)) : yamlText(value);
}

export async function yamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml');
  // Two equal parts of a value are not worth an anchor that a reader has to follow.
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      // Between double quotes alone there are escapes.
      if (typeof node.value === 'string' && isUnsafe(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 }).replace(/\n$/, ''));
}
