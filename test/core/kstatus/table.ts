/** Tables of objects and their kstatus. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { kstatusOf } from '../../../core/kstatus/kstatus.ts';

export const NOW = Date.parse('2026-01-02T12:00:00Z');

export function object(apiVersion: string, kind: string, rest: Record<string, unknown> = {}): KubeObject<any, any> {
  const { metadata, ...body } = rest as { metadata?: object };
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'demo', ...metadata }, ...body };
}

export const condition = (type: string, status: string, reason = '', message = '') => ({
  type,
  status,
  reason,
  message,
});

/** The fields of an object whose status has these conditions. */
export const is = (...conditions: unknown[]) => ({ status: { conditions } });

/** Name, fields of the object, expected status, expected message. */
export type Row = [string, Record<string, unknown>, string, string];

export function table(apiVersion: string, kind: string, rows: Row[]) {
  describe(kind, () => {
    it.each(rows)('%s', (_, fields, status, message) => {
      expect(kstatusOf(object(apiVersion, kind, fields), NOW)).toEqual({ status, message });
    });
  });
}

export const READY = condition('Ready', 'True');
