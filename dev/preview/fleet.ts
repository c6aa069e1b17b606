/** Applications in every state, as the hooks would have left them: for looking at the page, and for measuring it with thousands. */
import type { AnyObject } from '../client/send.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NAMES = [
  'checkout',
  'search',
  'catalog',
  'payments',
  'invoices',
  'ledger',
  'accounts',
  'sessions',
  'mailer',
  'images',
  'reports',
  'pricing',
];
const TEAMS = ['shop', 'finance', 'platform', 'identity'];

type Kind = 'done' | 'frozen' | 'approval' | 'baking' | 'deploying' | 'failed' | 'pinned' | 'stage' | 'empty' | 'first';
const KINDS: Kind[] = [
  'done',
  'frozen',
  'done',
  'approval',
  'baking',
  'done',
  'failed',
  'done',
  'deploying',
  'pinned',
  'stage',
  'done',
  'done',
  'empty',
  'done',
  'first',
  'done',
];

export interface FleetObject {
  object: AnyObject;
  status?: Record<string, unknown>;
}

export function namespacesOf(): string[] {
  return TEAMS;
}

/** Everything that is shown of `count` applications. */
export function fleet(count: number, now: number): FleetObject[] {
  return [...gatesOf(now), ...Array.from({ length: count }, (_, index) => application(index, now)).flat()];
}

const at = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;

function gatesOf(now: number): FleetObject[] {
  const closed = at(now - 3 * HOUR);
  const monday = nextMonday(now);
  return [
    gate(
      'flux-system',
      'year-end',
      {
        default: 'opened',
        window: `${Math.round((monday - now + 3 * HOUR) / HOUR)}h`,
        selects: { kinds: ['Rollout'], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
      },
      {
        'close.gate.fluxcd.io/requestedAt': closed,
        'close.gate.fluxcd.io/reason': 'stocktaking, OPS-311',
      },
      { request: { action: 'close', at: closed, by: 'alice@example.com', reason: 'stocktaking, OPS-311' }, held: 14 },
    ),
    gate(
      'flux-system',
      'no-fridays',
      {
        default: 'opened',
        schedule: {
          timezone: 'Europe/Berlin',
          rules: [
            { name: 'Friday afternoon', daysOfWeek: ['Friday'], timeRange: { start: '14:00', end: '00:00' } },
            { name: 'weekend', daysOfWeek: ['Saturday', 'Sunday'] },
          ],
        },
        selects: { kinds: ['Kustomization', 'HelmRelease'], namespaceSelector: {} },
      },
      {},
      { held: 43 },
    ),
    gate(
      'finance',
      'ledger-window',
      {
        default: 'closed',
        schedule: {
          timezone: 'Europe/Berlin',
          action: 'Open',
          rules: [
            { daysOfWeek: ['Monday', 'Tuesday', 'Wednesday', 'Thursday'], timeRange: { start: '09:00', end: '15:00' } },
          ],
        },
        selects: { kinds: ['Rollout'] },
      },
      {},
      { held: 9 },
    ),
    gate('platform', 'sre-approval', { default: 'closed', window: '1h' }, {}, { held: 3 }),
  ];
}

function nextMonday(now: number): number {
  const day = new Date(now);
  day.setUTCHours(8, 0, 0, 0);
  do day.setUTCDate(day.getUTCDate() + 1);
  while (day.getUTCDay() !== 1);
  return day.getTime();
}

function gate(namespace: string, name: string, spec: object, annotations: object, status: object): FleetObject {
  return {
    object: {
      apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1',
      kind: 'Gate',
      metadata: { namespace, name, annotations },
      spec,
    } as AnyObject,
    status: status as Record<string, unknown>,
  };
}

function application(index: number, now: number): FleetObject[] {
  const team = TEAMS[index % TEAMS.length]!;
  const base = NAMES[Math.floor(index / TEAMS.length) % NAMES.length]!;
  const round = Math.floor(index / (TEAMS.length * NAMES.length));
  const name = round === 0 ? base : `${base}-${round}`;
  const kind = KINDS[index % KINDS.length]!;
  const wanted = versionsOf(index, kind);
  const meta = { namespace: team, name, labels: { team, tier: index % 3 === 0 ? 'frontend' : 'backend' } };
  const { history, ...rest } = statusOf(kind, wanted, index, now, team, name);
  const spec: Record<string, unknown> = { releasesImagePolicy: { name }, bakeTime: '30m', deployTimeout: '15m' };
  if (kind === 'pinned') spec.wantedVersion = wanted.at(-2);
  if (kind === 'stage')
    spec.after = [
      {
        name: NAMES[(Math.floor(index / TEAMS.length) + 1) % NAMES.length],
        namespace: TEAMS[(index + 1) % TEAMS.length],
      },
    ];
  const status = {
    observedGeneration: 1,
    history,
    availableReleases: wanted.map((tag, i) => ({ tag, firstSeen: at(now - (wanted.length - i) * DAY) })),
    availableReleasesCount: wanted.length,
    ...rest,
  };
  const objects: FleetObject[] = [
    { object: { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', metadata: meta, spec } as AnyObject, status },
  ];
  if (kind === 'approval' || kind === 'first') {
    objects.push({
      object: {
        apiVersion: 'kuberik.com/v1alpha1',
        kind: 'RolloutGate',
        metadata: { namespace: team, name: `${name}-qa` },
        spec: { rolloutRef: { name }, passing: true, allowedVersions: wanted.slice(0, -1) },
      } as AnyObject,
    });
  }
  if (kind !== 'empty')
    objects.push(binding(team, name, history[0] as { id: number; version: { tag: string } } | undefined, kind, now));
  return objects;
}

function binding(
  namespace: string,
  name: string,
  head: { id: number; version: { tag: string } } | undefined,
  kind: Kind,
  now: number,
): FleetObject {
  const isThere = kind !== 'deploying' && head !== undefined;
  const message = isThere
    ? `Applied ${head.version.tag}`
    : head
      ? `waits for Flux to apply ${head.version.tag}, since ${at(now - 2 * MINUTE)}`
      : 'the Rollout has deployed nothing';
  return {
    object: {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'FluxBinding',
      metadata: { namespace, name: `kustomization-${name}`, labels: { [`${name}.rollout.kuberik.com/bound`]: '' } },
      spec: {
        target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name, uid: `u-${name}` },
        pins: [{ rollout: name, variable: 'APP_VERSION' }],
      },
    } as AnyObject,
    status: {
      observedGeneration: 1,
      summary: head ? `${name} ${head.version.tag} (${head.id})` : '',
      conditions: [
        condition(
          'Ready',
          isThere ? 'True' : 'False',
          isThere ? 'Applied' : 'WaitingForApply',
          message,
          now - 2 * MINUTE,
        ),
      ],
    },
  };
}

function versionsOf(index: number, kind: Kind): string[] {
  if (kind === 'empty') return [];
  const major = 1 + (index % 4);
  const last = 3 + (index % 9);
  return Array.from({ length: last }, (_, i) => `${major}.${i}.${(index * 7 + i) % 5}`);
}

const condition = (type: string, status: string, reason: string, message: string, time: number) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at(time),
  observedGeneration: 1,
});

function statusOf(
  kind: Kind,
  versions: string[],
  index: number,
  now: number,
  team: string,
  name: string,
): { history: unknown[]; [key: string]: unknown } {
  const waits = ['frozen', 'approval', 'stage', 'first', 'pinned'].includes(kind);
  const deployed = kind === 'first' || kind === 'empty' ? [] : waits ? versions.slice(0, -1) : versions;
  const history = deployed.map((tag, i) => entry(tag, i + 1, deployed.length, kind, index, now)).reverse();
  const next = versions.at(-1);
  const ready = condition('Ready', 'True', 'Succeeded', 'Bake succeeded', now - HOUR);
  const base = { history, currentVersion: deployed.at(-1) };
  const pending = { pendingVersion: next, releaseCandidates: next ? [{ tag: next }] : [] };
  switch (kind) {
    case 'frozen': {
      const gateName =
        team === 'finance'
          ? 'finance/ledger-window'
          : team === 'shop'
            ? 'flux-system/year-end'
            : 'platform/sre-approval';
      const says =
        team === 'shop'
          ? `Gate scheduled for opening at ${at(nextMonday(now))}, closed by alice@example.com: stocktaking, OPS-311`
          : 'Gate closed by default';
      return {
        ...base,
        ...pending,
        gates: [{ kind: 'Gate', name: gateName, passing: false, message: `Gate is closed: ${says}` }],
        conditions: [
          ready,
          condition(
            'DeploymentBlocked',
            'True',
            'GateClosed',
            `Version ${next} is waiting approval, gate '${gateName}' is closed (${says})`,
            now - 3 * HOUR,
          ),
        ],
      };
    }
    case 'first':
    case 'approval':
      return {
        ...base,
        ...pending,
        gates: [
          { name: `${name}-qa`, passing: true, allowedVersions: versions.slice(0, -1), message: `Gate does not allow` },
        ],
        conditions: [
          ready,
          condition('GatesPassing', 'False', 'SomeGatesBlocking', 'Some gates are blocking', now - 2 * HOUR),
          condition(
            'WaitingForRolloutGates',
            'True',
            'RolloutGatesBlocking',
            `Version ${next} waits for RolloutGate '${name}-qa' (allows other versions)`,
            now - 2 * HOUR,
          ),
        ],
      };
    case 'stage':
      return {
        ...base,
        ...pending,
        gates: [{ kind: 'Rollout', name: 'after/staging', passing: true, allowedVersions: [], message: 'baking' }],
        conditions: [
          ready,
          condition(
            'WaitingForRollouts',
            'True',
            'NotSucceeded',
            `Version ${next} waits for Rollout 'staging' (baking since ${at(now - 9 * MINUTE)})`,
            now - 9 * MINUTE,
          ),
        ],
      };
    case 'pinned':
      return {
        ...base,
        conditions: [
          ready,
          condition(
            'Pinned',
            'True',
            'WantedVersion',
            `spec.wantedVersion pins version ${versions.at(-2)}: newer versions wait until it is removed; ${next} is available`,
            now - DAY,
          ),
        ],
      };
    case 'failed':
      return {
        ...base,
        conditions: [
          condition(
            'Ready',
            'False',
            'BakeTimeFailed',
            `Bake of ${next} failed: HealthCheck ${team}/${name} reported an error: 5xx ratio above 2 %`,
            now - 40 * MINUTE,
          ),
        ],
      };
    case 'baking':
      return {
        ...base,
        conditions: [
          condition(
            'Progressing',
            'True',
            'Baking',
            `Version ${next} bakes until ${at(now + 12 * MINUTE)}`,
            now - 18 * MINUTE,
          ),
        ],
      };
    case 'deploying':
      return {
        ...base,
        conditions: [
          condition(
            'Progressing',
            'True',
            'WaitingForApply',
            `Version ${next} waits for Kustomization '${name}' to apply it, since ${at(now - 2 * MINUTE)}`,
            now - 2 * MINUTE,
          ),
        ],
      };
    case 'empty':
      return {
        history: [],
        conditions: [condition('Ready', 'False', 'ImagePolicyNotFound', `ImagePolicy '${name}' not found`, now - DAY)],
      };
    default:
      return { ...base, conditions: [ready] };
  }
}

function entry(tag: string, id: number, of: number, kind: Kind, index: number, now: number) {
  const isHead = id === of;
  const start =
    isHead && ['baking', 'deploying', 'failed'].includes(kind)
      ? now - (kind === 'failed' ? 70 : kind === 'baking' ? 21 : 2) * MINUTE
      : now - (of - id + 1) * (DAY + (index % 5) * 7 * HOUR);
  const outcome = !isHead
    ? (index + id) % 7 === 0
      ? 'Failed'
      : (index + id) % 11 === 0
        ? 'Cancelled'
        : 'Succeeded'
    : kind === 'baking'
      ? 'InProgress'
      : kind === 'deploying'
        ? 'Deploying'
        : kind === 'failed'
          ? 'Failed'
          : 'Succeeded';
  const isByHand = (index + id) % 5 === 0;
  const applied = start + 50_000;
  const baked = start + 3 * MINUTE;
  const ended = baked + 30 * MINUTE;
  return {
    id,
    version: {
      tag,
      digest: `sha256:${String(id).repeat(64).slice(0, 64)}`,
      revision: `${((index + 3) * 7919 * id).toString(16).padStart(7, '0').slice(0, 7)}`,
    },
    timestamp: at(start),
    message: isByHand ? 'Manual deployment, with force deploy' : 'Automatic deployment',
    triggeredBy: { kind: isByHand ? 'User' : 'System', name: isByHand ? 'bob@example.com' : 'rollout-controller' },
    ...(isByHand && { requestedBy: 'bob@example.com', reason: 'hotfix for INC-7' }),
    bakeStatus: outcome,
    bakeStatusMessage: outcome === 'Succeeded' ? 'Bake succeeded' : outcome === 'Failed' ? '5xx ratio above 2 %' : '',
    ...(outcome !== 'Deploying' && { appliedTime: at(applied), bakeStartTime: at(baked) }),
    ...((outcome === 'Succeeded' || outcome === 'Failed' || outcome === 'Cancelled') && {
      bakeEndTime: at(outcome === 'Succeeded' ? ended : baked + 11 * MINUTE),
    }),
    ...(outcome === 'Failed' && {
      failedHealthChecks: [{ namespace: 'shop', name: 'errors', message: '5xx ratio above 2 %' }],
    }),
  };
}
