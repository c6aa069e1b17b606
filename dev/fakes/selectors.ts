import type { KubeObject } from '../../api/kubernetes.ts';
import { compileSelector } from '../../core/kube/selector.ts';

/** The selectors in the query of a request. */
interface Selectors {
  labelSelector?: string | null | undefined;
  /** `a.b=c`, several with commas. */
  fieldSelector?: string | null | undefined;
}

export function matching({ labelSelector, fieldSelector }: Selectors): (object: KubeObject<any, any>) => boolean {
  const labels = compiled(labelSelector ?? '');
  const fields = (fieldSelector ?? '').split(',').filter(Boolean);
  return (object) =>
    labels(object.metadata.labels) &&
    fields.every((text) => {
      const [path = '', value] = text.split('=');
      return String(path.split('.').reduce<any>((at, key) => at?.[key], object) ?? '') === value;
    });
}

/** A label selector from text such as `a`, `!a`, `a=b`, `a!=b`, `a in (b,c)` or `a notin (b,c)`. */
function compiled(text: string): ReturnType<typeof compileSelector> {
  const matchExpressions = text
    .split(/,(?![^(]*\))/)
    .filter(Boolean)
    .map((part) => {
      const set = /^(\S+) (in|notin) \((.*)\)$/.exec(part);
      if (set) return { key: set[1]!, operator: set[2] === 'in' ? 'In' : 'NotIn', values: set[3]!.split(',') };
      const [, key = '', sign, value = ''] = /^([^=!]+)(!?=?=)(.*)$/.exec(part) ?? [];
      if (sign) return { key, operator: sign.startsWith('!') ? 'NotIn' : 'In', values: [value] };
      return part.startsWith('!')
        ? { key: part.slice(1), operator: 'DoesNotExist' }
        : { key: part, operator: 'Exists' };
    });
  return compileSelector({ matchExpressions } as never);
}
