/** promtool checks the alerts: their syntax, and when they fire. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasPrometheus, providePrometheus } from '../../../../dev/local/monitoring/prometheus.ts';
import { withPrometheus } from '../../../support/prometheus.ts';
import { ALERTS, RULES } from './monitoring.ts';

interface Case {
  name: string;
  interval: string;
  series: Record<string, string>;
  alerts?: Record<string, Record<string, string>[]>;
  quiet?: string[];
  firing?: Record<string, string>;
}

const text = readFileSync(join(import.meta.dirname, 'alerts.yaml'), 'utf8');
/** All values are texts: `0x200` is no number. */
const CASES: Case[] = parse(text, { schema: 'failsafe' });
const rulesOf = ({ alerts = {} }: Case) =>
  Object.entries(alerts).map(([key, labels]) => {
    const [eval_time, alertname = ''] = key.split(' ');
    return { eval_time, alertname, exp_alerts: labels.map((exp_labels) => ({ exp_labels })) };
  });

/** The cases in promtool's form. */
function promtoolTests(cases: readonly Case[]): object[] {
  const counted = (eval_time: string, exp_samples: object[]) => ({
    expr: 'count(ALERTS{alertstate="firing"})',
    eval_time,
    exp_samples,
  });
  return cases.map((each) => ({
    name: each.name,
    interval: each.interval,
    input_series: Object.entries(each.series).map(([series, values]) => ({ series, values })),
    alert_rule_test: rulesOf(each),
    promql_expr_test: [
      ...(each.quiet ?? []).map((at) => counted(at, [])),
      ...Object.entries(each.firing ?? {}).map(([at, value]) => counted(at, [{ value: Number(value) }])),
    ],
  }));
}

const BY_INTERVAL = [...Map.groupBy(CASES, ({ interval }) => interval)];

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
  }, 900_000);
  afterAll(() => rmSync(dir, { recursive: true }));

  const run = (...args: string[]) => execFileSync(promtool, args, { cwd: dir, encoding: 'utf8' });

  it('finds the rules in order', () => {
    expect(run('check', 'rules', '--lint=all', '--lint-fatal', 'whole.yaml')).toContain(`${ALERTS.length} rules found`);
  });

  it.each(BY_INTERVAL)(
    'sees every alert fire, and stay quiet, when it should, evaluated every %s',
    (interval, cases) => {
      const tests = { rule_files: ['alerts.yaml'], evaluation_interval: interval, tests: promtoolTests(cases) };
      writeFileSync(join(dir, `${interval}.yaml`), JSON.stringify(tests));
      expect(run('test', 'rules', `${interval}.yaml`)).toContain('SUCCESS');
    },
  );
});

it('every alert is seen to fire in one of the tests', () => {
  const fired = CASES.flatMap(rulesOf).filter(({ exp_alerts }) => exp_alerts.length > 0);
  expect(new Set(fired.map(({ alertname }) => alertname))).toEqual(new Set(ALERTS.map(({ alert }) => alert)));
});
