/** Objects as text: JSON, YAML, and the diff of an object that is created or annotated. Control characters are escaped. */

import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import { UNSAFE } from '../../core/text/oneLine.ts';

/** In a text of several lines. */
export const UNSAFE_IN_TEXT = new RegExp(String.raw`(?![\n\t])[${UNSAFE}]`, 'gu');

export async function structuredText(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  return format === 'json' ? escapeUnsafe(JSON.stringify(value, undefined, 2)) : yamlText(value);
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
  return escapeUnsafe(document.toString({ lineWidth: 0 }).replace(/\n$/, ''));
}

/** Prefixes of changed lines in a diff. */
interface DiffStyle {
  tone(tone: 'good', text: string): string;
  strong(text: string): string;
}

export const PLAIN_STYLE: DiffStyle = { tone: (_, text) => text, strong: (text) => text };

/** An object that is not there yet: every line is added. */
export async function additionLines(object: AnyObject, style: DiffStyle): Promise<string[]> {
  const path = fileNameOf(object);
  const body = (await yamlText(object)).split('\n').map((line) => style.tone('good', `+${line}`));
  return [style.strong('--- /dev/null'), style.strong(`+++ ${path}`), ...body];
}

/** Annotations that an object gets, in their place. */
export async function annotationLines(
  object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
  annotations: Readonly<Record<string, string>>,
  style: DiffStyle,
): Promise<string[]> {
  const path = fileNameOf(object);
  const before = object.metadata.annotations ?? {};
  const body = (await yamlText(annotations)).split('\n').map((line) => style.tone('good', `+    ${line}`));
  const head = Object.keys(before).length > 0 ? '   annotations:' : style.tone('good', '+  annotations:');
  return [
    style.strong(`--- ${path}`),
    style.strong(`+++ ${path}`),
    ` apiVersion: ${object.apiVersion}`,
    ` kind: ${object.kind}`,
    ' metadata:',
    `   name: ${object.metadata.name}`,
    `   namespace: ${object.metadata.namespace}`,
    head,
    ...body,
  ];
}

/** `rollout-checkout.yaml`. */
export function fileNameOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}-${metadata.name}.yaml`;
}

/** JSON, or YAML with unsafe characters between double quotes only: they are escaped, which keeps their meaning. */
function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isUnsafe(text: string): boolean {
  return text.search(UNSAFE_IN_TEXT) >= 0;
}
