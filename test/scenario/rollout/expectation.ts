/**
 * What a scenario expects. In YAML: `none` is absent, `any` is present, `~text` contains the text; other values are
 * equal, an object as far as it is given.
 */
import { expect } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { isReported } from '../../../server/events/fluxEvent.ts';
import { explained } from './explained.ts';
import type { ScenarioCluster } from './scenarioCluster.ts';

type Check = (cluster: ScenarioCluster, expected: any) => void;

const LISTS = ['availableReleases', 'releaseCandidates', 'gatedReleaseCandidates'] as const;

export const CHECKS: Record<string, Check> = {
  /** `0.2.0`, or `0.2.0 Deploying`; newest first. */
  history: (cluster, expected: string[]) => {
    const entries = status(cluster).history ?? [];
    const withBake = expected.some((text) => String(text).includes(' '));
    const actual = entries.map(({ version, bakeStatus }) => (withBake ? `${version.tag} ${bakeStatus}` : version.tag));
    expect(actual).toEqual(expected.map(String));
  },
  /** null for an entry without one. */
  ids: (cluster, expected: (number | null)[]) =>
    expect(status(cluster).history?.map(({ id }) => id ?? null)).toEqual(expected),
  head: (cluster, expected) => match(status(cluster).history?.[0], expected, 'history[0]'),
  previous: (cluster, expected) => match(status(cluster).history?.[1], expected, 'history[1]'),
  status: (cluster, expected) => match(status(cluster), expected, 'status'),
  /** Maximum size of the status in bytes. */
  largest: (cluster, expected) => expect(JSON.stringify(status(cluster)).length).toBeLessThanOrEqual(expected),
  gates: (cluster, expected) => match(status(cluster).gates, expected, 'gates'),
  conditions: (cluster, expected) => {
    const actual = Object.fromEntries((status(cluster).conditions ?? []).map((c) => [c.type, c]));
    for (const [type, want] of Object.entries(expected)) match(actual[type], conditionOf(want), type);
  },
  annotations: (cluster, expected) => {
    const actual = Object.entries(cluster.rollout.metadata.annotations ?? {});
    match(
      Object.fromEntries(actual.map(([key, value]) => [key.replace('rollout.kuberik.com/', ''), value])),
      expected,
      'annotations',
    );
  },
  denied: (cluster, expected) => match(cluster.denied, expected, 'denied'),
  labels: (cluster, expected) => match(cluster.rollout.metadata.labels, expected, 'labels'),
  /** Seconds, `none`, or a range `[least, most]`. */
  resync: (cluster, expected) => {
    if (Array.isArray(expected)) {
      expect(cluster.resync).toBeGreaterThanOrEqual(expected[0]);
      expect(cluster.resync).toBeLessThanOrEqual(expected[1]);
    } else match(cluster.resync, expected, 'resync');
  },
  /** Reasons of the last sync's events. */
  events: (cluster, expected: string[]) => expect(cluster.events.map(({ reason }) => reason)).toEqual(expected),
  /** Events with a notification. */
  notified: (cluster, expected: string[]) =>
    expect(cluster.events.filter(isReported).map(({ reason }) => reason)).toEqual(expected),
  /** The last sync's Events, by reason: `Normal: message`. */
  messages: (cluster, expected) =>
    match(Object.fromEntries(cluster.events.map((e) => [e.reason, `${e.type}: ${e.message}`])), expected, 'events'),
  /**
   * The explanation of client/explain: fields of the Application; `causes` by their codes and, as `texts`, their texts;
   * `steps` as `id: state`, `details` as `id: detail`; `commands` by their commands.
   */
  explained: (cluster, { causes, texts, commands, steps, details, ...rest }) => {
    const app = explained(cluster);
    match(app, rest, 'explained');
    if (causes) expect(app.causes.map(({ code }) => code)).toEqual(causes);
    if (texts) expect(app.causes.map(({ text }) => text)).toEqual(texts);
    if (commands) expect(app.commands.map(({ command }) => command.replace('kubectl rollouts ', ''))).toEqual(commands);
    const detailsOf = Object.fromEntries(app.steps.map(({ id, detail }) => [id, detail]));
    if (details) match(detailsOf, details, 'details');
    if (steps) match(Object.fromEntries(app.steps.map(({ id, state }) => [id, state])), steps, 'steps');
  },
  configMap: (cluster, expected) => match(cluster.configMaps[0], expected, 'ConfigMap'),
  /** The tag that the derived ImagePolicy of spec.writeBack selects. */
  selects: (cluster, expected) => {
    const pattern = cluster.policies()[0]?.spec?.filterTags?.pattern;
    match(pattern?.replace(/^\^|\\|\$$/g, ''), expected, 'selects');
  },
  ...Object.fromEntries(
    LISTS.map((list) => [
      list,
      (cluster: ScenarioCluster, expected: string[]) =>
        expect(status(cluster)[list]?.map(({ tag }) => tag) ?? []).toEqual(expected.map(String)),
    ]),
  ),
};

function status(cluster: ScenarioCluster): RolloutStatus {
  return cluster.rollout.status ?? {};
}

/** `True/RolloutSucceeded/message`; the later parts are optional. */
function conditionOf(want: unknown): unknown {
  if (typeof want !== 'string' || want === 'none' || want === 'any') return want;
  const [state, reason, ...message] = want.split('/');
  return { status: state, ...(reason && { reason }), ...(message.length > 0 && { message: message.join('/') }) };
}

function match(actual: unknown, expected: unknown, where: string): void {
  if (expected === 'none') expect(actual, where).toBeUndefined();
  else if (expected === 'any') expect(actual, where).toBeDefined();
  else if (typeof expected === 'string' && expected.startsWith('~')) expect(actual, where).toContain(expected.slice(1));
  else if (typeof expected !== 'object' || expected === null) expect(actual, where).toBe(expected);
  else matchParts(actual, expected, where);
}

function matchParts(actual: unknown, expected: object, where: string): void {
  expect(actual, where).toBeTypeOf('object');
  if (Array.isArray(expected)) expect(actual, where).toHaveLength(expected.length);
  for (const [key, value] of Object.entries(expected)) match((actual as any)?.[key], value, `${where}.${key}`);
}
