/** promtool checks the alerts: their syntax, and when they fire. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasPrometheus, providePrometheus } from '../../../../dev/local/monitoring/prometheus.ts';
import { withPrometheus } from '../../../support/prometheus.ts';
import { ALERTS, RULES } from './monitoring.ts';

const TESTS = ['alertsOfHours.yaml', 'alertsOfDays.yaml'];

/** promtool would compare texts as well; they are left out, and only their existence is checked. */
const withoutTexts = {
  groups: RULES.groups.map((group) => ({ ...group, rules: group.rules.map(({ annotations: _, ...rule }) => rule) })),
};

describe.runIf(hasPrometheus)(withPrometheus('promtool'), () => {
  let promtool: string;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'alerts-'));
    promtool = await providePrometheus('promtool');
    writeFileSync(join(dir, 'whole.yaml'), JSON.stringify(RULES));
    writeFileSync(join(dir, 'alerts.yaml'), JSON.stringify(withoutTexts));
    for (const file of TESTS) copyFileSync(join(import.meta.dirname, file), join(dir, file));
  }, 900_000);
  afterAll(() => rmSync(dir, { recursive: true }));

  const run = (...args: string[]) => execFileSync(promtool, args, { cwd: dir, encoding: 'utf8' });

  it('finds the rules in order', () => {
    expect(run('check', 'rules', '--lint=all', '--lint-fatal', 'whole.yaml')).toContain(`${ALERTS.length} rules found`);
  });

  it.each(TESTS)('sees every alert of %s fire, and stay quiet, when it should', (file) => {
    expect(run('test', 'rules', file)).toContain('SUCCESS');
  });
});

interface Tests {
  tests: { alert_rule_test?: { alertname: string; exp_alerts?: unknown[] }[] }[];
}

it('every alert is seen to fire in one of the tests', () => {
  const all = TESTS.flatMap((file) => (parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Tests).tests);
  const fired = all.flatMap(({ alert_rule_test: asked = [] }) =>
    asked.filter(({ exp_alerts: alerts }) => alerts?.length).map(({ alertname }) => alertname),
  );
  expect(new Set(fired)).toEqual(new Set(ALERTS.map(({ alert }) => alert)));
});
