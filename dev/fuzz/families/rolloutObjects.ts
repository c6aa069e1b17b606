/** The objects of a case of dev/fuzz/families/rolloutCases.ts. */
import { timestamp } from '../../actors/timestamp.ts';
import type { RolloutGateSpec } from '../../reference/rollout.ts';
import { type GateState, IMAGE, NOW, REQUESTER, type RolloutCase, type State } from './rolloutCases.ts';
import type { AnyObject } from './routes.ts';

const KUBERIK = 'kuberik.com/v1alpha1';
/** The webhook's labels of a Gate that selects Rollouts alone, of its namespace. */
const SELECTS_ROLLOUTS = {
  'gate.fluxcd.io/selects': 'own-namespace-rollouts',
  'gate.fluxcd.io/selects-rollouts': 'own-namespace',
};

const TARGET = 'oci://registry.example/prod/app';
const HOUR_MS = 3_600_000;
const SEEN = { 'long ago': NOW - 2 * HOUR_MS, 'just now': NOW - HOUR_MS / 2 };
/** Time of the newest deployment; each earlier one is an hour older. */
const DEPLOYED = NOW - HOUR_MS;
const CHANGED = { 'before it': DEPLOYED - 1000, 'since then': DEPLOYED };

const named = (apiVersion: string, kind: string, name: string, fields: object, metadata: object = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, generation: 1, ...metadata },
  ...fields,
});

const record = (given: { by: string; tag: string; hours: number }[], rollout?: string) =>
  JSON.stringify({
    given: given.map(({ by, tag, hours }) => ({
      version: tag,
      ...(rollout && { rollout, uid: 'uid-app' }),
      by,
      at: timestamp(NOW - hours * HOUR_MS),
    })),
  });

function rolloutGateOf({ approvals, given = [], ...spec }: RolloutGateSpec, name: string): AnyObject {
  const rule = approvals && {
    required: approvals.required,
    ...(approvals.notByRequester && { notBy: ['requester'] }),
    ...(approvals.expire && { expireAfter: '1h' }),
  };
  return named(
    KUBERIK,
    'RolloutGate',
    name,
    { spec: { rolloutRef: { name: 'app' }, ...spec, ...(rule && { approvals: rule }) } },
    {
      labels: { 'rollout.kuberik.com/rollout-name': 'app' },
      annotations: { 'rollout.kuberik.com/approvals': record(given) },
    },
  );
}

/** A Gate; one that requires approvals has a request to open it for every version. */
function gateOf(name: string, state: GateState, selects: boolean): AnyObject {
  const requiresApprovals = state === 'approved 1.2.0' || state === 'approvals';
  const given = state === 'approved 1.2.0' ? [{ by: 'bob', tag: '1.2.0', hours: 0 }] : [];
  const open = {
    'open.gate.fluxcd.io/requestedAt': timestamp(DEPLOYED),
    ...(!requiresApprovals && { 'open.gate.fluxcd.io/for': '1.2.0' }),
    'gate.fluxcd.io/approvals': record(given, 'shop/app'),
  };
  const spec = {
    default: state === 'opened' ? 'opened' : 'closed',
    ...(selects && { selects: { kinds: ['Rollout'] } }),
    ...(requiresApprovals && { approvals: { required: 1 } }),
  };
  return named(
    'gating.toolkit.fluxcd.io/v1alpha1',
    'Gate',
    name,
    { spec },
    {
      labels: selects ? SELECTS_ROLLOUTS : {},
      ...(state !== 'opened' && state !== 'closed' && { annotations: open }),
    },
  );
}

/** The objects of a state, with the Rollout apart. */
export function objectsOf(of: State, input: RolloutCase, generation: number) {
  const { policy, available, history, bakes, onFailure, health } = input;
  const at = timestamp(DEPLOYED);
  const annotations: Record<string, string> = {};
  const records: Record<string, object> = {};
  const requests = {
    'force-deploy': of.forceDeploy,
    'bypass-gates': of.bypassGates,
    'unblock-failed': of.unblock ? 'true' : undefined,
    retry: of.retry ? '' : undefined,
  };
  for (const [key, value] of Object.entries(requests)) {
    if (value === undefined) continue;
    annotations[`rollout.kuberik.com/${key}`] = value;
    records[key] = { id: `r-${value}`, by: REQUESTER, at };
  }
  annotations['rollout.kuberik.com/request'] = JSON.stringify(records);
  if (of.wantedVersion !== undefined) {
    annotations['rollout.kuberik.com/pin'] = JSON.stringify({ version: of.wantedVersion, by: REQUESTER, at });
  }
  const entries = history.map(({ tag: version, bakeStatus, rolledBackFrom, image, namesCheck }, i) => ({
    id: history.length - i,
    version: { tag: version },
    timestamp: timestamp(DEPLOYED - i * HOUR_MS),
    bakeStatus,
    ...(bakeStatus === 'InProgress' && { bakeStartTime: at }),
    ...(bakeStatus === 'Failed' && namesCheck && { failedHealthChecks: [{ namespace: 'shop', name: 'web' }] }),
    ...(rolledBackFrom && { rolledBackFrom }),
    ...(image && { image }),
  }));
  const rollout = named(
    KUBERIK,
    'Rollout',
    'app',
    {
      spec: {
        releasesImagePolicy: { name: 'app' },
        onFailure,
        ...(input.gateFirst !== undefined && { gateFirstDeployment: input.gateFirst }),
        ...(input.barrier && { rollback: { barrier: input.barrier } }),
        ...(input.copies && { targetRepository: { url: TARGET } }),
        ...(input.minimumReleaseAge && { minimumReleaseAge: input.minimumReleaseAge }),
        ...(of.wantedVersion && { wantedVersion: of.wantedVersion }),
        ...(of.gates.length > 0 && { gates: of.gates.map((name) => ({ name })) }),
        ...(of.after.length > 0 && {
          after: of.after.map(({ name, hours }) => ({ name, ...(hours > 0 && { bakedFor: `${hours}h` }) })),
        }),
        ...(bakes && { bakeTime: '5m', healthCheckSelector: { selector: {} } }),
      },
      status: {
        revision: 3,
        ...(entries.length > 0 && { history: entries }),
        availableReleases: available.map(({ tag: each, firstSeen }) => ({
          tag: each,
          ...(firstSeen && { firstSeen: timestamp(SEEN[firstSeen]) }),
        })),
        ...(input.rolledBack.length > 0 && { rolledBackReleases: input.rolledBack }),
        ...(input.copies?.done && { copy: { tag: input.copies.done, url: TARGET } }),
        ...(input.barriers.length > 0 && { rollbackBarriers: input.barriers }),
      },
    },
    { generation, annotations, ...(of.isDeleted && { deletionTimestamp: at, finalizers: ['x'] }) },
  );
  const gates = Object.entries(of.gateStates).flatMap(([name, gate]) => {
    if (gate === 'missing') return [];
    return [gateOf(name, gate, of.selecting.includes(name))];
  });
  const rolloutGates = of.rolloutGates.map((spec, i) => rolloutGateOf(spec, `qa${i}`));
  const upstream = Object.entries(of.upstream).map(([name, { history: had, rolledBack }]) =>
    named(KUBERIK, 'Rollout', name, {
      spec: { releasesImagePolicy: { name: 'app' } },
      status: {
        history: had.map(({ tag: version, bakeStatus, hours, retried }, i) => ({
          id: had.length - i,
          version: { tag: version },
          timestamp: timestamp(NOW - 9 * 3_600_000),
          bakeStatus,
          bakeEndTime: timestamp(NOW - hours * 3_600_000),
          ...(retried && { lastRetryTimestamp: at }),
        })),
        rolledBackReleases: rolledBack,
      },
    }),
  );
  const binding = named(
    KUBERIK,
    'FluxBinding',
    'kustomization-web',
    {
      spec: {
        target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: 'web', uid: 'uid-web' },
        fields: [{ rollout: 'app', variable: 'APP' }],
        ...(of.bound.length > 0 && { gates: of.bound.map((gate) => ({ namespace: 'shop', gate })) }),
      },
    },
    { labels: { 'app.rollout.kuberik.com/bound': '' } },
  );
  const range = of.below ? `<${of.below}` : '*';
  const imagePolicy = named('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'app', {
    spec: { imageRepositoryRef: { name: 'app' }, policy: { semver: { range } } },
    status: { latestRef: { name: IMAGE, tag: of.latest } },
  });
  const repository = named('image.toolkit.fluxcd.io/v1', 'ImageRepository', 'app', {
    spec: { image: IMAGE },
  });
  const reported = health && { status: health.status, lastChangeTime: timestamp(CHANGED[health.changed]) };
  const check = named(KUBERIK, 'HealthCheck', 'web', { status: reported });
  return {
    rollout,
    others: [
      ...gates,
      ...rolloutGates,
      ...upstream,
      ...(of.bound.length > 0 ? [binding] : []),
      ...(policy ? [imagePolicy, repository] : []),
      ...(health ? [check] : []),
    ],
  };
}
