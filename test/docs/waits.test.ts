/** "When a version is not deployed": what the table quotes is what the cluster says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { objectsBelow } from '../manifests/files.ts';
import { crdFields } from './fields.ts';
import { codeIn, ROOT, table } from './tables.ts';

const rows = table('waits').map((row) => `${row['you see']} | ${row.why}`);
const spansOf = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);
const spans = rows.flatMap((text) => spansOf(text).map((span) => [span] as const));

const conditions = table('conditions Rollout').map(({ type, status, reason }) => [
  codeIn(type),
  status,
  codeIn(reason),
]);
const fields = [
  ...crdFields('kuberik.com_rollouts', 'spec'),
  ...crdFields('kuberik.com_rollouts', 'status'),
  ...crdFields('kuberik.com_rolloutgates', 'spec'),
].map(({ path }) => path);
const bakeStatuses = ['Deploying', 'InProgress', 'Succeeded', 'Failed', 'Cancelled'];
const columns = objectsBelow('crds').flatMap(({ spec }) =>
  spec.versions[0].additionalPrinterColumns.map(({ name }: { name: string }) => name.toUpperCase()),
);
const core = readdirSync(join(ROOT, 'core'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'core', name), 'utf8'))
  .join('\n');

/** `history[0].bakeStatusMessage`, `onFailure: Hold`, `spec.wantedVersion`, or the last part of such a path. */
function isField(span: string): boolean {
  const path = span
    .replace(/: .*/, '')
    .replace(/^(spec|status)\./, '')
    .replace('[0]', '[]');
  return fields.some((field) => field === path || field.endsWith(`.${path}`) || field.endsWith(`.${path}[]`));
}

/** A sentence, with `…` for names, versions and times. */
function isSaid(span: string): boolean {
  return span.includes(' ') && span.split('…').every((part) => core.includes(part.trim().replace(/^'|'$/g, '')));
}

function isCondition(span: string): boolean {
  const [type, status] = span.split('=');
  return conditions.some((each) => (status ? each[0] === type && each[1] === status : each.includes(span)));
}

describe('the table of what a version waits for', () => {
  it('quotes something in each row', () => expect(rows.length).toBeGreaterThan(12));

  it.each(spans)('%s is what the cluster says', (span) => {
    const known =
      isCondition(span) || isField(span) || isSaid(span) || bakeStatuses.includes(span) || span === '-o wide';
    expect(known).toBe(true);
  });

  it('names columns that kubectl get has', () => {
    const named = rows.flatMap((text) => text.replace(/`[^`]*`/g, '').match(/\b[A-Z]{4,}\b/g) ?? []);
    const inCode = rows.flatMap((text) => text.match(/\b[A-Z]{6,}\b/g) ?? []);
    expect([...named, ...inCode].filter((name) => !columns.includes(name))).toEqual([]);
  });

  it('quotes each condition that says what is waited for', () => {
    const named = ['WaitingForRolloutGates', 'DeploymentBlocked', 'Progressing', 'Pinned', 'RolledBack'];
    expect(named.filter((word) => !spans.some(([span]) => span.split('=')[0] === word))).toEqual([]);
  });

  it('needs no row for a reason of a condition: what to do is there', () => {
    const waiting = table('conditions Rollout').filter(
      ({ type, status }) => /Waiting|Blocked/.test(type!) && status === 'True',
    );
    expect(waiting.length).toBeGreaterThan(10);
    expect(waiting.filter((row) => (row['what to do'] ?? '–') === '–')).toEqual([]);
  });
});
