/** Alerts, runbooks and dashboard name served metrics only. */
import { describe, expect, it } from 'vitest';
import { createAuditMetrics } from '../../server/audit/auditMetrics.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { ALERTS, metricsIn, OBJECT_METRICS, QUERIES } from '../manifests/components/monitoring/monitoring.ts';
import { readPage, table } from './tables.ts';

const metrics = createMetrics();
const served = await metrics.text();

const types = Object.fromEntries(
  [...served.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
);
const isOurs = (name: string) => name.startsWith('rollout_hooks_');

it('has only our metrics and those of the process', () => {
  const others = Object.keys(types).filter((name) => !isOurs(name));
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter((name) => !/^(nodejs|process)_/.test(name))).toEqual([]);
});

describe('runbooks', () => {
  const sections = readPage('runbooks.md').split(/^## /m).slice(1);
  const titleOf = (section: string) => section.slice(0, section.indexOf('\n'));

  it('has one for each alert, in the same order, with its severity', () => {
    expect(sections.map(titleOf)).toEqual(ALERTS.map(({ alert }) => alert));
    expect(sections.map((section) => /^Severity: (\w+)\.$/m.exec(section)?.[1])).toEqual(
      ALERTS.map(({ labels }) => labels.severity),
    );
  });

  it.each(sections.map((section) => [titleOf(section), section]))(
    '%s says what it means, where to look and what to do',
    (_, section) => {
      expect([...section.matchAll(/^\*\*(\w+)\.\*\* \S/gm)].map(([, word]) => word)).toEqual(['Means', 'Look', 'Do']);
    },
  );

  it.each(ALERTS.map(({ alert, annotations }) => [alert, annotations]))('%s names its own', (alert, annotations) => {
    expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    expect(annotations.summary && annotations.description).toBeTruthy();
  });
});

/** docs/audit.md has the metrics of the sender. */
const ofSender = [...(await createAuditMetrics(() => 0).text()).matchAll(/^# TYPE (rollout_hooks_\S+) /gm)].map(
  ([, name]) => name!,
);

it('docs/audit.md has every metric of the sender', () => {
  expect(ofSender.filter((name) => !readPage('audit.md').includes(`| \`${name}\` |`))).toEqual([]);
});

const known = new Set([
  ...ofSender,
  ...Object.entries(types).flatMap(([name, type]) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((part) => name + part) : [name],
  ),
  ...OBJECT_METRICS.keys(),
  // Of the API server.
  'apiserver_admission_webhook_rejection_count',
]);

it.each([
  ...ALERTS.map(({ alert, expr }) => [alert, expr]),
  ...QUERIES.map(({ title, expr }) => [title, expr]),
  ...table('DORA').map(({ measure, query }) => [measure!, query!]),
])('%s asks for metrics that there are', (_, expr) => {
  const names = metricsIn(expr!);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});
