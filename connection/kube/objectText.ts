/** Objects as text: JSON, YAML, and the diff of a created or annotated object. Control characters are escaped. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import { escapeUnsafe, UNSAFE_IN_TEXT } from '../../core/text/oneLine.ts';

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
      if (typeof node.value === 'string' && (node.value.search(UNSAFE_IN_TEXT) >= 0 || /^ +\n/.test(node.value)))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafe(document.toString({ lineWidth: 0 }).replace(/\n$/, ''));
}

/** The style of headers and added lines in a diff. */
export interface DiffStyle {
  tone(tone: 'good', text: string): string;
  strong(text: string): string;
}

const PLAIN_STYLE: DiffStyle = { tone: (_, text) => text, strong: (text) => text };

/** The diff of a new object: every line is added. */
export async function additionLines(object: AnyObject, style = PLAIN_STYLE): Promise<string[]> {
  const path = fileNameOf(object);
  const body = (await yamlText(object)).split('\n').map((line) => style.tone('good', `+${line}`));
  return [style.strong('--- /dev/null'), style.strong(`+++ ${path}`), ...body];
}

/** The diff of new annotations on an object. */
export async function annotationLines(
  object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
  annotations: Readonly<Record<string, string>>,
  style = PLAIN_STYLE,
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

/** The object without managedFields, which are half of its size, and which no user reads. */
export function withoutManagedFields(object: AnyObject): AnyObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
