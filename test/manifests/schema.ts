/** Our kinds as the API server checks them in strict field validation: schema, rules, and no unknown fields. */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { AnyObject } from '../../dev/client/send.ts';
import { kindAt } from '../../dev/sim/apiServer/kinds.ts';

function schemaOf({ apiVersion, kind }: { apiVersion: string; kind: string }) {
  const row = KINDS[kind as KindName];
  return row && apiVersion.startsWith(`${row.group}/`) ? kindAt(row.group, row.resource)?.schema : undefined;
}

export const isOurs = (object: { apiVersion: string; kind: string }): boolean => schemaOf(object) !== undefined;

/** Errors for a new object of one of our kinds, or for a write of the stored one. */
export function problemsOf(object: object, before?: object): string[] {
  const given: AnyObject = JSON.parse(JSON.stringify(object));
  const schema = schemaOf(given)!;
  const stored = schema.prepare(given);
  return [...unknownFields(given, stored, ''), ...schema.problems(stored, before as AnyObject | undefined)];
}

function unknownFields(given: any, stored: any, path: string): string[] {
  if (typeof given !== 'object' || given === null) return [];
  return Object.keys(given).flatMap((key) =>
    Object.hasOwn(stored, key) ? unknownFields(given[key], stored[key], `${path}/${key}`) : [`unknown ${path}/${key}`],
  );
}
