/** docs/reference/metrics.md lists every served metric; alerts, runbooks and dashboard name no others. */
import { describe, expect, it } from 'vitest';
import { createAuditMetrics } from '../../server/audit/auditMetrics.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { ALERTS, metricsIn, OBJECT_METRICS, QUERIES } from '../manifests/components/monitoring/monitoring.ts';
import { codeIn, readPage, rowsOf, table } from './tables.ts';

const metrics = createMetrics();
// One value of each metric, so that its labels are served.
metrics.request('/hooks/gate/sync')('answered');
const served = await metrics.text();

const types = Object.fromEntries(
  [...served.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
);
const isOurs = (name: string) => name.startsWith('rollout_hooks_');

const labelsIn = (cell: string | undefined) => (cell ?? '').split(' ').filter(Boolean).map(codeIn).sort();
const reference = (heading: string) => rowsOf(readPage('reference/metrics.md').split(`\n## ${heading}\n`)[1]!);

/** Labels of a metric's first value, without the one that a histogram adds. */
function labelsOf(name: string): string[] {
  const line = new RegExp(`^${name}(?:_bucket)?(?:\\{(.*)\\})? `, 'm').exec(served);
  if (!line) throw new Error(`${name} has no value: give it one at the top of this file`);
  return [...(line[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le');
}

it('the reference has every metric of ours, with its type and labels', () => {
  const documented = reference('Of rollout-hooks').map(({ metric, type, labels }) => ({
    name: codeIn(metric),
    type,
    labels: labelsIn(labels),
  }));
  const names = Object.keys(types).filter(isOurs);
  const real = names.map((name) => ({ name, type: types[name], labels: labelsOf(name).sort() }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(documented.sort(byName)).toEqual(real.sort(byName));
});

it('has only our metrics and those of the process', () => {
  const others = Object.keys(types).filter((name) => !isOurs(name));
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter((name) => !/^(nodejs|process)_/.test(name))).toEqual([]);
});

it('the reference has every metric that kube-state-metrics is configured to export, with its labels', () => {
  const rows = reference('Of objects, by kube-state-metrics');
  const documented = rows.map(({ metric, labels }) => [codeIn(metric), labelsIn(labels)]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(OBJECT_METRICS));
  expect(rows.filter(({ meaning }) => !meaning)).toEqual([]);
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
    expect(annotations.runbook).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
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
