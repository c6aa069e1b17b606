/** The pages of docs/reference, from their sources. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LOGGED } from '../../api/decisions.ts';
import { COUNTERS } from '../../api/metrics.ts';
import { LIMITS } from '../../core/limits.ts';
import { COPY_LIMITS } from '../../core/releaseCopy/release.ts';
import { PAGE_ENVIRONMENT } from '../../page/inCluster/config.ts';
import { RECEIVER_LIMITS } from '../../receiver/index.ts';
import { ENVIRONMENT } from '../../server/config.ts';
import { SERVER_LIMITS } from '../../server/http/serverLimits.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { REPOSITORY } from '../repository.ts';
import { code, type Generated, table } from './generated.ts';

const FOLDER = join(REPOSITORY, 'docs/reference');
const EXPORTER = 'manifests/components/monitoring/config/kube-state-metrics.yaml';

interface Family {
  name: string;
  help: string;
  each: Record<string, { labelName?: string; labelsFromPath?: object }> & { type: string };
}

interface Resource {
  metricNamePrefix: string;
  labelsFromPath: object;
  metrics: Family[];
}

/** The text of a comment, in one line. */
const textOf = (comment: string) => comment.replaceAll(/\s+(?:\* )?/g, ' ').trim();

/** Each key with its comment. */
async function annotationsPage(): Promise<string[]> {
  const source = await readFile(join(REPOSITORY, 'api/annotations.ts'), 'utf8');
  const keys = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const \w+ = '([^']*[^'/])';/g);
  const rows = [...keys].map(([, comment, key]) => [code(key!), textOf(comment!).replace(/ See core\/.*/, '')]);
  return [table(['key', 'meaning'], rows)];
}

interface KindReasons {
  conditions: { type: string; status: string; reason: string; meaning: string; do?: string }[];
  events?: { type: string; reason: string; when: string }[];
}

async function conditionsPage(): Promise<string[]> {
  const kinds: Record<string, KindReasons> = parse(await readFile(join(FOLDER, 'conditions.yaml'), 'utf8'));
  const sections = Object.entries(kinds).map(([kind, { conditions, events = [] }]) => {
    const rows = conditions.map(({ type, status, reason, meaning, do: fix = '–' }) => {
      return [code(type), status, code(reason), meaning, fix];
    });
    const eventRows = events.map(({ type, reason, when }) => [type, code(reason), when]);
    const what = ['type', 'status', 'reason', 'meaning', 'what to do'];
    return [
      `## ${kind}\n\n<!-- table: conditions ${kind} -->\n${table(what, rows)}`,
      ...(events.length > 0
        ? [`### Events of a ${kind}\n\n<!-- table: events ${kind} -->\n${table(['type', 'reason', 'when'], eventRows)}`]
        : []),
    ].join('\n\n');
  });
  return [...sections];
}

function logPage(): string[] {
  return [table(['reason', 'there is a line when'], coded(LOGGED))];
}

async function metricsPage(): Promise<string[]> {
  return [
    `## Of rollout-hooks\n\n${table(['metric', 'type', 'labels', 'meaning'], await ownRows())}`,
    `## Of objects, by kube-state-metrics\n\nEach also has \`name\`, \`namespace\` (of namespaced objects), \`customresource_group\`, \`customresource_version\` and\n\`customresource_kind\`. Times are Unix seconds.\n\n${table(['metric', 'labels', 'meaning'], await objectRows())}`,
  ];
}

/** A row for each of our metrics, from the served text. */
async function ownRows(): Promise<string[][]> {
  const metrics = createMetrics();
  const served = await metrics.text();
  const types = new Map([...served.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const labels = new Map<string, object>(Object.entries(COUNTERS).map(([name, counter]) => [name, counter.labels]));
  labels.set('rollout_hooks_build_info', { version: '' });
  labels.set('rollout_hooks_request_duration_seconds', { route: [], outcome: [] });
  const helps = [...served.matchAll(/^# HELP (rollout_hooks_\S+) (.*)$/gm)];
  return helps.map(([, name = '', help = '']) => [
    code(name),
    types.get(name) ?? '',
    codes(labels.get(name) ?? {}),
    help,
  ]);
}

async function objectRows(): Promise<string[][]> {
  const text = await readFile(join(REPOSITORY, EXPORTER), 'utf8');
  const { spec } = parse(text, { merge: true }) as { spec: { resources: Resource[] } };
  return spec.resources.flatMap(({ metricNamePrefix, labelsFromPath, metrics }) =>
    metrics.map(({ name, help, each }) => {
      const { labelName, labelsFromPath: own } = each[each.type[0]!.toLowerCase() + each.type.slice(1)]!;
      const { namespace, name: _, ...labels }: Record<string, unknown> = { ...labelsFromPath, ...own };
      const all = { ...labels, ...(labelName !== undefined && { [labelName]: [] }) };
      return [code(`${metricNamePrefix}_${name}`), codes(all), help];
    }),
  );
}

const codes = (labels: object): string => Object.keys(labels).map(code).join(' ');
const coded = (meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]);

async function limitsPage(): Promise<string[]> {
  return [
    await limitTable('One decision', 'core/limits.ts', LIMITS),
    await limitTable('One copy of a release', 'core/releaseCopy/release.ts', COPY_LIMITS),
    await limitTable('One replica', 'server/http/serverLimits.ts', SERVER_LIMITS),
    await limitTable('The receiver of one replica', 'receiver/index.ts', RECEIVER_LIMITS),
  ];
}

/** The limits of a file, each with its comment. */
async function limitTable(title: string, file: string, limits: Record<string, number>): Promise<string> {
  const source = await readFile(join(REPOSITORY, file), 'utf8');
  const rows = Object.entries(limits).map(([name, value]) => {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${name}: `).exec(source)?.[1];
    if (!comment) throw new Error(`${file}: the limit ${name} has no comment`);
    return [code(name), value.toLocaleString('en-US'), textOf(comment)];
  });
  return `## ${title}\n\nFrom \`${file}\`.\n\n${table(['limit', 'value', 'what it bounds'], rows)}`;
}

function settingsPage(): string[] {
  return [
    table(['setting', 'meaning'], coded(ENVIRONMENT)),
    '## The page in the cluster',
    'Keys of the ConfigMap `rollout-hooks-ui`: [the page in the cluster](../page-in-cluster.md).',
    table(['setting', 'meaning'], coded(PAGE_ENVIRONMENT)),
  ];
}

interface Write {
  write: string;
  result: string;
  decidedIn: string[];
  shownBy: Record<string, string[]>;
}

interface Quirk {
  original: string;
  here: string;
  shownBy: Record<string, string[]>;
}

interface Difference extends Quirk {
  compat: boolean;
}

async function writesPage(): Promise<string[]> {
  const sections: Record<string, Record<string, Write>> = await sourceOf('writes.yaml');
  const tables = Object.entries(sections).map(([object, writes]) => {
    const rows = Object.entries(writes).map(([id, { write, result, decidedIn, shownBy }]) => {
      return [id, write, result, decidedIn.map(code).join(', '), casesOf(shownBy)];
    });
    const title = `${object[0]!.toUpperCase()}${object.slice(1)}`;
    return `## ${title}\n\n${table(['', 'write', 'result', 'decided in', 'shown by'], rows)}`;
  });
  return [...tables];
}

async function quirksPage(): Promise<string[]> {
  const quirks: Record<string, Quirk> = await sourceOf('quirks.yaml');
  const rows = Object.entries(quirks).map(([id, { original, here, shownBy }]) => {
    return [id, original, here, casesOf(shownBy)];
  });
  const differences: Record<string, Difference> = await sourceOf('differences.yaml');
  const byDefault = Object.entries(differences).map(([about, { original, here, compat, shownBy }]) => {
    return [about, original, here, compat ? 'yes' : 'no', casesOf(shownBy)];
  });
  return [
    table(['', 'the original', 'here', 'shown by'], rows),
    "## Differences by default\n\nFor an existing Rollout whose manifest didn't change. *Compat*: `kuberik-compat` restores the original.",
    table(['about', 'the original', 'here', 'compat', 'shown by'], byDefault),
  ];
}

async function sourceOf(name: string) {
  return parse(await readFile(join(FOLDER, name), 'utf8'));
}

/** `file` “case” “case”, `file` “case” */
function casesOf(shownBy: Record<string, string[]>): string {
  const files = Object.entries(shownBy);
  return files.map(([file, cases]) => `\`${file}\` ${cases.map((each) => `“${each}”`).join(' ')}`).join(', ');
}

export async function cataloguePages(): Promise<Generated> {
  const pages = {
    annotations: await annotationsPage(),
    limits: await limitsPage(),
    metrics: await metricsPage(),
    quirks: await quirksPage(),
    settings: settingsPage(),
    writes: await writesPage(),
    log: logPage(),
    conditions: await conditionsPage(),
  };
  return Object.entries(pages).map(
    ([name, parts]) => [`docs/reference/${name}.md`, `${parts.join('\n\n')}\n`] as const,
  );
}
