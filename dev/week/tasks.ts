/** The tasks of tasks.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AnyObject } from '../client/send.ts';

/** What is done on the page; `open` goes to a place by its address or by a click on what shows it. */
export type PageStep =
  | { open: string }
  | { click: string }
  | { key: string }
  | { type: { into: string; text: string } };

export interface Ways {
  /** Commands, as they are typed. */
  kubectl: string[];
  /** The same. */
  rollouts: string[];
  page: PageStep[];
}

export type Way = keyof Ways;

export interface Task {
  id: string;
  day: string;
  asks: string;
  as: 'developer' | 'sre';
  before?: ({ publish: string } | { apply: AnyObject })[];
  ways: Ways;
  /** Regular expressions. */
  reads?: string[];
  /** `of`: `kind/name`; `has`: part of that object. */
  then?: { of: string; has: object }[];
}

/** As the tasks name them. */
export const NAMESPACE = 'shop';

export function readTasks(): Task[] {
  return parse(readFileSync(join(import.meta.dirname, 'tasks.yaml'), 'utf8')) as Task[];
}
