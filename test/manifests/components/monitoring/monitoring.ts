/** The content of manifests/components/monitoring: alerts, panels, and the metrics of kube-state-metrics. */
import { parse } from 'yaml';
import { objectIn, textOf } from '../../files.ts';

const COMPONENT = 'components/monitoring';

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

/** The alerts as a rules file. */
export const RULES: { groups: { name: string; rules: Alert[] }[] } = objectIn(`${COMPONENT}/prometheus-rule.yaml`).spec;
export const ALERTS: readonly Alert[] = RULES.groups.flatMap(({ rules }) => rules);

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const dashboard: { panels: Panel[] } = JSON.parse(textOf(`${COMPONENT}/config/dashboard.json`));

/** Queries of every panel. */
export const QUERIES: readonly { title: string; expr: string }[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

type Paths = Record<string, unknown>;
const { spec } = parse(textOf(`${COMPONENT}/config/kube-state-metrics.yaml`), { merge: true }) as {
  spec: {
    resources: {
      metricNamePrefix: string;
      labelsFromPath: Paths;
      metrics: {
        name: string;
        each: Record<string, { labelName?: string; labelsFromPath?: Paths }> & { type: string };
      }[];
    }[];
  };
};

const OF_EVERY_OBJECT = ['namespace', 'name'];

/** Name of each metric of kube-state-metrics → its labels, without those of every object. */
export const OBJECT_METRICS: ReadonlyMap<string, string[]> = new Map(
  spec.resources.flatMap(({ metricNamePrefix, labelsFromPath, metrics }) =>
    metrics.map(({ name, each }) => {
      const how = each[each.type[0]!.toLowerCase() + each.type.slice(1)]!;
      const labels = [...Object.keys({ ...labelsFromPath, ...how.labelsFromPath }), how.labelName ?? []].flat();
      return [`${metricNamePrefix}_${name}`, labels.filter((label) => !OF_EVERY_OBJECT.includes(label)).sort()];
    }),
  ),
);

/** Names in a query that may be metrics: ours, those of objects and those of the process. */
export function metricsIn(expr: string): string[] {
  const withoutText = expr.replace(/"(?!kuberik)[^"]*"/g, '""');
  const alternatives = withoutText.replace(/\{__name__=~"([^"]*)"/g, (_, pattern: string) =>
    [pattern.replace('(cluster)?', ''), pattern.replace('(cluster)?', 'cluster')].join(' '),
  );
  return [...alternatives.matchAll(/\b(?:rollout_hooks|kuberik|nodejs|process|apiserver)_\w+(?!\w*=)/g)]
    .map(([name]) => name)
    .filter((name, i, all) => all.indexOf(name) === i);
}
