/** Applications in every state, as the hooks would leave them, to preview and to measure the page. */

import { API, gate, rollout, rolloutGate } from '../actors/objects.ts';
import { timestamp } from '../actors/timestamp.ts';
import type { AnyObject } from '../client/send.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NAMES = 'checkout search catalog payments invoices ledger accounts sessions mailer images reports pricing'.split(
  ' ',
);
const TEAMS = ['shop', 'finance', 'platform', 'identity'];

type State =
  | 'done'
  | 'frozen'
  | 'approval'
  | 'baking'
  | 'deploying'
  | 'failed'
  | 'pinned'
  | 'stage'
  | 'empty'
  | 'first';
/** States of the applications, in turn. */
const STATES =
  'done frozen done approval baking done failed done deploying pinned stage done done empty done first done'.split(
    ' ',
  ) as State[];

export interface FleetObject {
  object: AnyObject;
  status?: Record<string, unknown>;
}

export const NAMESPACES: readonly string[] = [...TEAMS, 'flux-system'];

/** The objects of `count` applications. */
export function fleet(count: number, now: number): FleetObject[] {
  return [...gatesOf(now), ...Array.from({ length: count }, (_, index) => application(index, now)).flat()];
}

function gatesOf(now: number): FleetObject[] {
  const closed = timestamp(now - 3 * HOUR);
  const reason = 'stocktaking, OPS-311';
  const yearEnd = gate('flux-system', 'year-end', {
    annotations: { 'close.gate.fluxcd.io/requestedAt': closed, 'close.gate.fluxcd.io/reason': reason },
    spec: {
      default: 'opened',
      window: `${Math.round((nextMonday(now) - now + 3 * HOUR) / HOUR)}h`,
      selects: { kinds: ['Rollout'], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
    },
  });
  const friday = { daysOfWeek: ['Friday'], timeRange: { start: '14:00', end: '00:00' } };
  const noFridays = gate('flux-system', 'no-fridays', {
    spec: {
      default: 'opened',
      schedule: {
        timezone: 'Europe/Berlin',
        rules: [
          { name: 'Friday afternoon', ...friday },
          { name: 'weekend', daysOfWeek: ['Saturday', 'Sunday'] },
        ],
      },
      selects: { kinds: ['Kustomization', 'HelmRelease'], namespaceSelector: {} },
    },
  });
  const workdays = { daysOfWeek: ['Monday', 'Tuesday', 'Wednesday', 'Thursday'] };
  const ledgerWindow = gate('finance', 'ledger-window', {
    spec: {
      schedule: {
        timezone: 'Europe/Berlin',
        action: 'Open',
        rules: [{ ...workdays, timeRange: { start: '09:00', end: '15:00' } }],
      },
      selects: { kinds: ['Rollout'] },
    },
  });
  const request = { action: 'close', at: closed, by: 'alice@example.com', reason };
  return [
    { object: yearEnd, status: { request, held: 14 } },
    { object: noFridays, status: { held: 43 } },
    { object: ledgerWindow, status: { held: 9 } },
    { object: gate('platform', 'sre-approval', { spec: { window: '1h' } }), status: { held: 3 } },
  ];
}

function nextMonday(now: number): number {
  const day = new Date(now);
  day.setUTCHours(8, 0, 0, 0);
  do day.setUTCDate(day.getUTCDate() + 1);
  while (day.getUTCDay() !== 1);
  return day.getTime();
}

interface Application {
  index: number;
  state: State;
  team: string;
  name: string;
  versions: string[];
  now: number;
}

function application(index: number, now: number): FleetObject[] {
  const team = TEAMS[index % TEAMS.length]!;
  const nameAt = (place: number) => NAMES[place % NAMES.length]!;
  const place = Math.floor(index / TEAMS.length);
  const round = Math.floor(place / NAMES.length);
  const name = round === 0 ? nameAt(place) : `${nameAt(place)}-${round}`;
  const state = STATES[index % STATES.length]!;
  const versions = state === 'empty' ? [] : versionsOf(index);
  const app: Application = { index, state, team, name, versions, now };
  const spec = {
    bakeTime: '30m',
    deployTimeout: '15m',
    ...(state === 'pinned' && { wantedVersion: versions.at(-2) }),
    ...(state === 'stage' && { after: [{ name: nameAt(place + 1), namespace: TEAMS[(index + 1) % TEAMS.length] }] }),
  };
  const labels = { team, tier: index % 3 === 0 ? 'frontend' : 'backend' };
  const history = historyOf(app);
  const objects: FleetObject[] = [
    { object: rollout(team, name, { labels, spec }), status: { ...statusOf(app), history } },
  ];
  if (state === 'approval' || state === 'first') {
    const qa = { passing: true, allowedVersions: versions.slice(0, -1) };
    objects.push({ object: rolloutGate(team, `${name}-qa`, name, qa) });
  }
  if (state !== 'empty') objects.push(binding(app, history[0]));
  return objects;
}

function versionsOf(index: number): string[] {
  const minors = Array.from({ length: 3 + (index % 9) }, (_, minor) => minor);
  return minors.map((minor) => `${1 + (index % 4)}.${minor}.${(index * 7 + minor) % 5}`);
}

const condition = (type: string, status: string, reason: string, message: string, at: number) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: timestamp(at),
  observedGeneration: 1,
});

function binding({ state, team, name, now }: Application, head: Entry | undefined): FleetObject {
  const since = now - 2 * MINUTE;
  const isApplied = state !== 'deploying' && head !== undefined;
  const waits = head
    ? `waits for Flux to apply ${head.version.tag}, since ${timestamp(since)}`
    : 'the Rollout has deployed nothing';
  const ready = isApplied
    ? condition('Ready', 'True', 'Applied', `Applied ${head.version.tag}`, since)
    : condition('Ready', 'False', 'WaitingForApply', waits, since);
  const [apiVersion, kind] = API.fluxBinding;
  const labels = { [`${name}.rollout.kuberik.com/bound`]: '' };
  const target = { apiVersion: API.kustomization[0], kind: API.kustomization[1], name, uid: `u-${name}` };
  return {
    object: {
      apiVersion,
      kind,
      metadata: { namespace: team, name: `kustomization-${name}`, labels },
      spec: { target, fields: [{ rollout: name, variable: 'APP_VERSION' }] },
    },
    status: {
      observedGeneration: 1,
      summary: head ? `${name} ${head.version.tag} (${head.id})` : '',
      conditions: [ready],
    },
  };
}

function statusOf(app: Application): Record<string, unknown> {
  const { state, name, team, versions, now } = app;
  const next = versions.at(-1);
  const ready = condition('Ready', 'True', 'Succeeded', 'Bake succeeded', now - HOUR);
  const releases = {
    observedGeneration: 1,
    currentVersion: deployedOf(app).at(-1),
    availableReleases: versions.map((tag, i) => ({ tag, firstSeen: timestamp(now - (versions.length - i) * DAY) })),
    availableReleasesCount: versions.length,
  };
  const pending = { ...releases, pendingVersion: next, releaseCandidates: [{ tag: next }] };
  const progressing = (reason: string, message: string, minutes: number) =>
    condition('Progressing', 'True', reason, message, now - minutes * MINUTE);
  switch (state) {
    case 'frozen': {
      const gates: Record<string, string> = { finance: 'finance/ledger-window', shop: 'flux-system/year-end' };
      const closed = gates[team] ?? 'platform/sre-approval';
      const opens = `Gate scheduled for opening at ${timestamp(nextMonday(now))}`;
      const why =
        team === 'shop' ? `${opens}, closed by alice@example.com: stocktaking, OPS-311` : 'Gate closed by default';
      const message = `Version ${next} waits: Gate '${closed}' is closed (${why})`;
      return {
        ...pending,
        gates: [{ kind: 'Gate', name: closed, passing: false, message: `Gate is closed: ${why}` }],
        conditions: [ready, condition('DeploymentBlocked', 'True', 'GateClosed', message, now - 3 * HOUR)],
      };
    }
    case 'first':
    case 'approval': {
      const allowedVersions = versions.slice(0, -1);
      const message = `Version ${next} waits for RolloutGate '${name}-qa' (allows other versions)`;
      return {
        ...pending,
        gates: [{ name: `${name}-qa`, passing: true, allowedVersions, message: 'Gate does not allow' }],
        conditions: [
          ready,
          condition('GatesPassing', 'False', 'SomeGatesBlocking', 'Some gates are blocking', now - 2 * HOUR),
          condition('WaitingForRolloutGates', 'True', 'RolloutGatesBlocking', message, now - 2 * HOUR),
        ],
      };
    }
    case 'stage': {
      const since = now - 9 * MINUTE;
      const message = `Version ${next} waits for Rollout 'staging' (baking since ${timestamp(since)})`;
      return {
        ...pending,
        gates: [{ kind: 'Rollout', name: 'after/staging', passing: true, allowedVersions: [], message: 'baking' }],
        conditions: [ready, condition('WaitingForRollouts', 'True', 'NotSucceeded', message, since)],
      };
    }
    case 'pinned': {
      const message = `spec.wantedVersion pins version ${versions.at(-2)}: no newer version is deployed until you remove the field; ${next} is available`;
      return { ...releases, conditions: [ready, condition('Pinned', 'True', 'WantedVersion', message, now - DAY)] };
    }
    case 'failed': {
      const message = `Bake of ${next} failed: HealthCheck ${team}/${name} reported an error: 5xx ratio above 2 %`;
      return { ...releases, conditions: [condition('Ready', 'False', 'BakeTimeFailed', message, now - 40 * MINUTE)] };
    }
    case 'baking': {
      const message = `Version ${next} is baking until ${timestamp(now + 12 * MINUTE)}`;
      return { ...releases, conditions: [progressing('Baking', message, 18)] };
    }
    case 'deploying': {
      const message = `Version ${next} waits for Kustomization '${name}' to apply it, since ${timestamp(now - 2 * MINUTE)}`;
      return { ...releases, conditions: [progressing('WaitingForApply', message, 2)] };
    }
    case 'empty': {
      const message = `ImagePolicy '${name}' not found`;
      return { ...releases, conditions: [condition('Ready', 'False', 'ImagePolicyNotFound', message, now - DAY)] };
    }
    case 'done':
      return { ...releases, conditions: [ready] };
  }
}

function deployedOf({ state, versions }: Application): string[] {
  if (state === 'first' || state === 'empty') return [];
  return ['frozen', 'approval', 'stage', 'pinned'].includes(state) ? versions.slice(0, -1) : versions;
}

type Entry = ReturnType<typeof entry>;

/** The history, newest first. */
function historyOf(app: Application): Entry[] {
  return deployedOf(app)
    .map((tag, i, { length }) => entry(app, tag, i + 1, length))
    .reverse();
}

/** Outcome and age in minutes of a newest deployment that hasn't succeeded. */
const HEADS: Partial<Record<State, [bakeStatus: string, minutes: number]>> = {
  baking: ['InProgress', 21],
  deploying: ['Deploying', 2],
  failed: ['Failed', 70],
};

function entry({ state, index, now }: Application, tag: string, id: number, newest: number) {
  const place = index + id;
  const older = place % 7 === 0 ? 'Failed' : place % 11 === 0 ? 'Cancelled' : 'Succeeded';
  const isNewest = id === newest;
  const [current = 'Succeeded', minutes] = (isNewest && HEADS[state]) || [];
  const outcome = isNewest ? current : older;
  const start =
    minutes === undefined ? now - (newest - id + 1) * (DAY + (index % 5) * 7 * HOUR) : now - minutes * MINUTE;
  const baked = start + 3 * MINUTE;
  const isManual = place % 5 === 0;
  const bakeEndTime = timestamp(baked + (outcome === 'Succeeded' ? 30 : 11) * MINUTE);
  const error = '5xx ratio above 2 %';
  const messages: Record<string, string> = { Succeeded: 'Bake succeeded', Failed: error };
  return {
    id,
    version: {
      tag,
      digest: `sha256:${String(id).repeat(64).slice(0, 64)}`,
      revision: `${((index + 3) * 7919 * id).toString(16).padStart(7, '0').slice(0, 7)}`,
    },
    timestamp: timestamp(start),
    message: isManual ? 'Manual deployment, with force deploy' : 'Automatic deployment',
    triggeredBy: isManual ? { kind: 'User', name: 'bob@example.com' } : { kind: 'System', name: 'rollout-controller' },
    ...(isManual && { requestedBy: 'bob@example.com', reason: 'hotfix for INC-7' }),
    bakeStatus: outcome,
    bakeStatusMessage: messages[outcome] ?? '',
    ...(outcome !== 'Deploying' && { appliedTime: timestamp(start + 50_000), bakeStartTime: timestamp(baked) }),
    ...(['Succeeded', 'Failed', 'Cancelled'].includes(outcome) && { bakeEndTime }),
    ...(outcome === 'Failed' && { failedHealthChecks: [{ namespace: 'shop', name: 'errors', message: error }] }),
  };
}
