/**
 * What has happened to a fleet: what was stored, in its order, and what was done to it. What must never be stored is noted as it comes; what
 * was on its way when a freeze began is let through for some seconds (`npm run chaos` is strict about that).
 */
import { isDeepStrictEqual } from 'node:util';
import type { StoredVersion } from '../chaos/recorder.ts';
import type { AnyObject } from '../client/send.ts';
import type { App } from './fleet.ts';

/** What was received before a closing was answered may still be stored after it. */
const UNDER_WAY_MS = 5_000;
const UNDER_WAY_STATES = ['Deploying', 'InProgress'];

export interface Happening {
  ms: number;
  what: 'restart' | 'crash' | 'close' | 'open' | 'bypass' | 'remove' | 'restore';
  /** A process, the namespaces of a freeze, or the key of an app. */
  of: string;
  /** When it was over: the process served again, or the objects were suspended or resumed. */
  overMs?: number;
}

export interface Ledger {
  apps: ReadonlyMap<string, App>;
  happenings: Happening[];
  /** A sentence for each, with the time at which it was seen. */
  violations: string[];
  /** Since when a namespace is frozen: when the closing was answered. */
  frozen: Map<string, number>;
  /** Keys of apps whose Kustomization somebody has let past a freeze. */
  bypassed: Set<string>;
  /** The next stored version, and when it was seen. */
  take(version: StoredVersion, ms: number): void;
  /** Versions of Rollouts and Kustomizations that were looked at. */
  versions(): number;
}

export function newLedger(list: readonly App[]): Ledger {
  const apps = new Map(list.map((app) => [app.key, app]));
  const happenings: Happening[] = [];
  const violations: string[] = [];
  const frozen = new Map<string, number>();
  const bypassed = new Set<string>();
  let versions = 0;

  const note = (ms: number, what: string) => violations.push(`${new Date(ms).toISOString().slice(11, 19)} ${what}`);
  const isFrozen = ({ namespace }: App, ms: number) => ms > (frozen.get(namespace) ?? ms) + UNDER_WAY_MS;

  function takeKustomization(app: App, object: AnyObject | undefined, ms: number): void {
    versions++;
    const before = app.kustomization;
    app.kustomization = object;
    if (!object) note(ms, `Kustomization ${app.key} was deleted`);
    if (!before || !object || bypassed.has(app.key) || !isFrozen(app, ms)) return;
    const { suspend: wasSuspended, ...was } = before.spec;
    const { suspend: isSuspended, ...is } = object.spec;
    if (!isDeepStrictEqual(was, is)) note(ms, `Kustomization ${app.key} was changed in a freeze`);
    if (wasSuspended && !isSuspended) note(ms, `Kustomization ${app.key} was resumed in a freeze`);
  }

  function takeRollout(app: App, object: AnyObject | undefined, ms: number): void {
    versions++;
    app.rollout = object;
    if (!object) {
      note(ms, `Rollout ${app.key} was deleted`);
      return;
    }
    for (const problem of app.verify(object)) note(ms, `Rollout ${app.key}: ${problem}`);
    const history: AnyObject[] = object.status?.history ?? [];
    for (const entry of history.toReversed()) takeDeployment(app, entry, ms);
    takeHead(app, history[0], ms);
    takeReady(app, object, ms);
  }

  function takeDeployment(app: App, { id, version, message, bakeStatus }: AnyObject, ms: number): void {
    const { tag } = version;
    const release = app.releases.get(tag);
    const isRollback = String(message).startsWith('Automatic rollback');
    const accuse = (what: string) => note(ms, `Rollout ${app.key}: ${tag} (${id}) ${what}`);
    if (!release) accuse('was never published');
    else if (!isRollback && !UNDER_WAY_STATES.includes(bakeStatus)) release.outcome ??= bakeStatus;
    const known = app.ids.get(id);
    if (known === tag) return;
    if (known !== undefined) accuse(`was ${known}`);
    if (!isRollback && [...app.ids.values()].includes(tag)) accuse('was deployed before');
    if (isFrozen(app, ms)) accuse('was deployed in a freeze');
    app.ids.set(id, tag);
    if (release && !isRollback) release.deployedMs ??= ms;
  }

  function takeHead(app: App, head: AnyObject | undefined, ms: number): void {
    const last = app.spans.at(-1);
    if (!head || (last?.state === head.bakeStatus && last?.tag === head.version.tag)) return;
    if (last) last.to = ms;
    app.spans.push({ state: head.bakeStatus, tag: head.version.tag, from: ms });
  }

  function takeReady(app: App, { status }: AnyObject, ms: number): void {
    const ready = status?.conditions?.find(({ type }: AnyObject) => type === 'Ready');
    const hasFailed = ready?.status === 'False' && ready.reason === 'RolloutFailed';
    const last = app.notReady.at(-1);
    const isOpen = last !== undefined && last.to === undefined;
    if (hasFailed && !isOpen) app.notReady.push({ from: ms });
    if (!hasFailed && isOpen) last.to = ms;
  }

  return {
    apps,
    happenings,
    violations,
    frozen,
    bypassed,
    take({ key, object }, ms) {
      const [, , group, plural, namespace, name] = key.split('/');
      const app = apps.get(`${namespace}/${name}`);
      if (!app) return;
      if (group === 'kustomize.toolkit.fluxcd.io') takeKustomization(app, object, ms);
      else if (group !== 'kuberik.com') return;
      else if (plural === 'healthchecks') app.check = object;
      else if (plural === 'rollouts') takeRollout(app, object, ms);
    },
    versions: () => versions,
  };
}
