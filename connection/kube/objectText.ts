/** Objects as text: JSON, YAML, and the diff of a created or annotated object. Control characters are escaped. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import { UNSAFE } from '../../core/text/oneLine.ts';

/** Characters that are unsafe in a text of several lines. */
export const UNSAFE_IN_TEXT = new RegExp(String.raw`(?![\n\t])[${UNSAFE}]`, 'gu');

export async function structuredText(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  return format === 'json' ? escapeUnsafe(JSON.stringify(value, undefined, 2)) : yamlText(value);
}

export async function yamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml');
  // Equal parts are repeated: an anchor is harder to read.
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      // YAML has escapes between double quotes only. The package writes a first line of spaces as an empty one.
      if (typeof node.value === 'string' && (isUnsafe(node.value) || /^ +\n/.test(node.value)))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafe(document.toString({ lineWidth: 0 }).replace(/\n$/, ''));
}

/** The style of headers and added lines in a diff. */
interface DiffStyle {
  tone(tone: 'good', text: string): string;
  strong(text: string): string;
}

export const PLAIN_STYLE: DiffStyle = { tone: (_, text) => text, strong: (text) => text };

/** The diff of a new object: every line is added. */
export async function additionLines(object: AnyObject, style: DiffStyle): Promise<string[]> {
  const path = fileNameOf(object);
  const body = (await yamlText(object)).split('\n').map((line) => style.tone('good', `+${line}`));
  return [style.strong('--- /dev/null'), style.strong(`+++ ${path}`), ...body];
}

/** The diff of new annotations on an object. */
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

/** The name of an object's file: `rollout-checkout.yaml`. */
export function fileNameOf({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}-${metadata.name}.yaml`;
}

/** JSON or YAML with unsafe characters as escapes, which mean the same: in YAML they are between double quotes. */
function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The object without managedFields, which are half of its size, and which no user reads. */
export function withoutManagedFields(object: AnyObject): AnyObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function isUnsafe(text: string): boolean {
  return text.search(UNSAFE_IN_TEXT) >= 0;
}
