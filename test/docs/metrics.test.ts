/** docs/metrics.md lists every metric that is served, as it is served. */
import { expect, it } from 'vitest';
import { createMetrics } from '../../server/metrics.ts';
import { codeIn, table } from './tables.ts';

const metrics = createMetrics();
// One value of each metric, so that its labels are seen.
metrics.request('/hooks/gate/sync')('answered');
const served = await metrics.text();

const types = Object.fromEntries(
  [...served.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
);
const isOurs = (name: string) => name.startsWith('rollout_hooks_');

/** Of a metric's first value; what makes a histogram one is left out. */
function labelsOf(name: string): string[] {
  const line = new RegExp(`^${name}(?:_bucket)?(?:\\{(.*)\\})? `, 'm').exec(served);
  if (!line) throw new Error(`${name} has no value: give it one at the top of this file`);
  return [...(line[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le');
}

it('has every metric of ours, with its type and labels', () => {
  const documented = table('metrics').map(({ metric, type, labels }) => ({
    name: codeIn(metric),
    type,
    labels: (labels ?? '').split(' ').filter(Boolean).map(codeIn).sort(),
  }));
  const names = Object.keys(types).filter(isOurs);
  const real = names.map((name) => ({ name, type: types[name], labels: labelsOf(name).sort() }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(documented.sort(byName)).toEqual(real.sort(byName));
});

// Elsewhere there are fewer: some are read from /proc.
it.runIf(process.platform === 'linux')('has every metric of the process, with its type', () => {
  const documented = table('process metrics').map(({ metric, type }) => [codeIn(metric), type]);
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(types).filter(([name]) => !isOurs(name))),
  );
});

it('says what each metric of ours means, and when to look', () => {
  for (const row of table('metrics')) expect(row.meaning && row['look when'], row.metric).toBeTruthy();
});
