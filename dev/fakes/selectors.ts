import type { KubeObject } from '../../api/kubernetes.ts';
import { parseSelector } from '../../client/actions/userInput.ts';
import { compileSelector } from '../../core/kube/selector.ts';

/** The selectors in the query of a request. */
interface Selectors {
  labelSelector?: string | null | undefined;
  /** `a.b=c`, several with commas. */
  fieldSelector?: string | null | undefined;
}

export function matching({ labelSelector, fieldSelector }: Selectors): (object: KubeObject<any, any>) => boolean {
  const selector = parseSelector(labelSelector ?? '');
  if (!selector) throw new Error(`${labelSelector} is not a label selector`);
  const labels = compileSelector(selector);
  const fields = (fieldSelector ?? '').split(',').filter(Boolean);
  return (object) =>
    labels(object.metadata.labels) &&
    fields.every((text) => {
      const [path = '', value] = text.split('=');
      return String(path.split('.').reduce<any>((at, key) => at?.[key], object) ?? '') === value;
    });
}
