/** Fields of any object, for kstatus: a value of another type counts as absent, and nothing throws. */
import type { AnyObject } from '../../api/kubernetes.ts';

/** A condition of any controller: each field may be missing, a missing text is empty. */
export interface LooseCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

type Path = readonly (string | number)[];

/** The value at `path`, or undefined. */
export function fieldAt(object: unknown, path: Path): unknown {
  let value = object;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

export function numberAt(object: unknown, path: Path): number | undefined {
  const value = fieldAt(object, path);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function stringAt(object: unknown, path: Path): string | undefined {
  const value = fieldAt(object, path);
  return typeof value === 'string' ? value : undefined;
}

/** `status.conditions` in list order; entries without a type are left out. */
export function conditionsOf(object: AnyObject): LooseCondition[] {
  const list = fieldAt(object, ['status', 'conditions']);
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => {
    const type = stringAt(entry, ['type']);
    if (type === undefined) return [];
    const lastTransitionTime = stringAt(entry, ['lastTransitionTime']);
    const observedGeneration = numberAt(entry, ['observedGeneration']);
    return [
      {
        type,
        status: stringAt(entry, ['status']) ?? '',
        reason: stringAt(entry, ['reason']) ?? '',
        message: stringAt(entry, ['message']) ?? '',
        ...(lastTransitionTime !== undefined && { lastTransitionTime }),
        ...(observedGeneration !== undefined && { observedGeneration }),
      },
    ];
  });
}

/** The condition Ready; undefined if the object has none. */
export function readyOf(object: AnyObject): LooseCondition | undefined {
  return conditionsOf(object).find(({ type }) => type === 'Ready');
}

// The result of kstatus, and its constructors.

export type KStatusName = 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'Unknown';

export interface KStatus {
  /** Unknown: the object has a value that no rule covers. */
  status: KStatusName;
  message: string;
}

export const current = (message: string): KStatus => ({ status: 'Current', message });
export const inProgress = (message: string): KStatus => ({ status: 'InProgress', message });
export const failed = (message: string): KStatus => ({ status: 'Failed', message });
