/** For each route, valid requests: what the mangled ones start from. */

import { SCHEMAS } from '../../../api/generated/schemas.ts';
import { runName } from '../../../core/health/job/checkJob.ts';
import { type AnyObject, reviewOf } from '../world/routes.ts';

interface Sample {
  request: object;
  world: AnyObject[];
}

const AT = '2026-03-27T09:00:00Z';
const KUBERIK = 'kuberik.com/v1alpha1';
const labels = {
  app: 'web',
  tier: 'production',
  'kustomize.toolkit.fluxcd.io/name': 'apps',
  'kustomize.toolkit.fluxcd.io/namespace': 'shop',
};
const conditions = [
  {
    type: 'Ready',
    status: 'True',
    reason: 'ReconciliationSucceeded',
    message: 'Applied',
    lastTransitionTime: AT,
    observedGeneration: 1,
  },
];
const expressions = {
  matchLabels: { team: 'a' },
  matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }],
};
const jobTemplate = {
  metadata: { labels: { team: 'a' }, annotations: { note: 'x' } },
  spec: { backoffLimit: 1, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b:1' }] } } },
};

const object = (apiVersion: string, kind: string, name: string, fields: object, metadata: object = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: '7',
    creationTimestamp: AT,
    ...metadata,
  },
  ...fields,
});

/** Of fields by their names, wherever they are: those that mean something. Other texts are `a`, times are AT. */
const VALUES: Readonly<Record<string, unknown>> = {
  namespace: 'shop',
  name: 'app',
  uid: 'uid-app',
  rollout: 'shop/app',
  default: 'closed',
  interval: '1m',
  window: '1h',
  expireAfter: '24h',
  bakedFor: '1h',
  bakeTime: '5m',
  deployTimeout: '1h',
  minimumReleaseAge: '1h',
  releaseUpdateInterval: '1m',
  cooldown: '10m',
  slotTimeout: '2h',
  timezone: 'Europe/Berlin',
  timeRange: { start: '22:00', end: '06:00' },
  dateRange: { start: '2026-01-01', end: '2026-12-31' },
  daysOfWeek: ['Friday'],
  action: 'Open',
  kinds: ['Kustomization', 'Rollout'],
  selector: expressions,
  namespaceSelector: expressions,
  labelSelector: { matchLabels: { tier: 'production' } },
  rolloutSelector: expressions,
  receiver: { type: 'hmac', secretRef: { name: 'token' } },
  notBy: ['requester', 'author'],
  serviceAccounts: ['ci/release-bot'],
  conditions,
  request: { action: 'close', at: AT, by: 'sre', reason: 'INC-1' },
  planned: { action: 'open', at: '2026-03-28T09:00:00Z', by: 'sre' },
  heldObjects: [{ kind: 'Rollout', namespace: 'shop', name: 'app' }],
  version: '1.1.0',
  tag: '1.1.0',
  digest: 'sha256:1',
  image: 'registry.example/app',
  url: 'oci://registry.example/prod/app',
  wantedVersion: '1.1.0',
  onFailure: 'Hold',
  match: 'revision',
  when: 'BeforeDeployment',
  bakeStatus: 'InProgress',
  allowedVersions: ['1.1.0'],
  rejectedVersions: ['1.2.0'],
  availableReleases: [{ tag: '0.9.0' }, { tag: '1.0.0' }, { tag: '1.1.0', created: AT }],
  triggeredBy: { kind: 'System', name: 'rollout-controller' },
  maxConcurrent: '10%',
  maxFailures: 2,
  order: { label: 'ring', values: ['canary', 'eu'] },
  state: 'Granted',
  template: jobTemplate,
  onEmpty: 'Healthy',
  query: 'errors{version="{{ version }}"}',
  required: 2,
  pins: [{ rollout: 'app', variable: 'APP' }],
};
const IS_TIME = /(At|Time|Since|since|time|timestamp|Timestamp|Until|until|created|firstSeen|nextTransition)$/;

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** A value with every field of the schema. */
function filled(schema: Schema, field: string): unknown {
  const { type, properties, items, additionalProperties } = schema;
  if (Object.hasOwn(VALUES, field)) return VALUES[field];
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, filled(each, name)]));
  }
  if (items) return [filled(items, '')];
  if (type === 'object') return typeof additionalProperties === 'object' ? { a: filled(additionalProperties, '') } : {};
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return 1;
  return IS_TIME.test(field) ? AT : 'a';
}

/** With every field of its spec and status; `changes` say otherwise. */
function full(kind: string, name: string, changes: { spec?: object; status?: object } = {}, metadata: object = {}) {
  const { spec, status } = (SCHEMAS[kind] as Schema).properties!;
  const apiVersion = kind === 'Gate' ? 'gating.toolkit.fluxcd.io/v1alpha1' : KUBERIK;
  const fields = {
    spec: { ...(filled(spec!, '') as object), ...changes.spec },
    ...(status && { status: { ...(filled(status, '') as object), ...changes.status } }),
  };
  return object(apiVersion, kind, name, fields, metadata);
}

const approvalsRecord = JSON.stringify({
  given: [{ version: '1.1.0', rollout: 'shop/app', uid: 'uid-app', by: 'alice', at: AT, reason: 'CHG-1' }],
  changes: [{ number: 1, by: 'sre', at: AT, fields: [{ path: 'approvals.required', from: '2', to: '1' }] }],
});

const closed = full(
  'Gate',
  'a',
  {},
  {
    labels: { 'gate.fluxcd.io/selects': '', 'gate.fluxcd.io/selects-rollouts': '' },
    annotations: {
      'close.gate.fluxcd.io/requestedAt': AT,
      'close.gate.fluxcd.io/reason': 'INC-1',
      'open.gate.fluxcd.io/requestedAt': '2026-03-27T08:00:00Z',
      'open.gate.fluxcd.io/for': '1.1.0',
      'gate.fluxcd.io/accepted-request': `{"current":{"action":"close","at":"${AT}","by":"sre"},"handled":{"close":"${AT}"},"seen":{"close":"${AT}"}}`,
      'gate.fluxcd.io/used-calls': '1774602000:0123456789abcdef.0123456789abcdef',
      'gate.fluxcd.io/bypass-reason': 'INC-1',
      'gate.fluxcd.io/bypassed-by': `${AT} sre`,
      'approve.gate.fluxcd.io/for': 'shop/app:1.1.0',
      'approve.gate.fluxcd.io/reason': 'CHG-1',
      'unapprove.gate.fluxcd.io/for': '1.0.0',
      'gate.fluxcd.io/approvals': approvalsRecord,
    },
  },
);
const open = {
  ...closed,
  metadata: { ...closed.metadata, name: 'b', uid: 'uid-b', annotations: {}, labels: {} },
  spec: { default: 'opened' },
  status: {},
};

/** The newest is baking and was not applied yet; what comes before has every field. */
const deployment = (tag: string, id: number) => ({
  ...(id === 1 && full('Rollout', 'app').status.history[0]),
  timestamp: AT,
  message: 'Automatic deployment',
  bakeStartTime: AT,
  id,
  version: { tag, digest: 'sha256:1', version: tag, revision: 'abc', created: AT },
  bakeStatus: id === 2 ? 'InProgress' : 'Failed',
});
const rollout = full(
  'Rollout',
  'app',
  {
    spec: {
      writeBack: undefined,
      minimumReleaseAge: undefined,
      gates: [{ name: 'a' }, { name: 'b', namespace: 'shop' }],
      after: [{ name: 'staging', namespace: 'shop', bakedFor: '1h', match: 'revision' }],
    },
    status: {
      revision: 9,
      currentVersion: '1.0.0',
      history: [deployment('1.0.0', 2), deployment('0.9.0', 1)],
      gates: [
        { name: 'qa', passing: true, allowedVersions: ['1.1.0'] },
        { kind: 'Gate', name: 'shop/a', passing: false, message: 'Gate is closed: closed by default' },
      ],
    },
  },
  {
    labels,
    annotations: {
      'rollout.kuberik.com/force-deploy': '1.1.0',
      'rollout.kuberik.com/bypass-gates': '1.1.0',
      'rollout.kuberik.com/retry': '',
      'rollout.kuberik.com/unblock-failed': 'true',
      'rollout.kuberik.com/deploy-message': 'hotfix',
      'rollout.kuberik.com/request': 'force-deploy=r1,retry=r2',
      'rollout.kuberik.com/requesters': '{"force-deploy":"alice"}',
      'gate.fluxcd.io/bypass-reason': 'INC-1',
      'gate.fluxcd.io/bypassed-gates': '1.2.0 (3): shop/a@close=2026-03-27T09:00:00Z,shop/b',
    },
  },
);
const stage = object(KUBERIK, 'Rollout', 'staging', {
  spec: { releasesImagePolicy: { name: 'app' }, after: [{ name: 'dev' }, { name: 'app' }] },
  status: { revision: 3, history: [deployment('1.1.0', 1)], rolledBackReleases: ['1.0.0'] },
});
const rolloutGate = full(
  'RolloutGate',
  'qa',
  {},
  {
    labels: { 'rollout.kuberik.com/rollout-name': 'app' },
    annotations: {
      'rollout.kuberik.com/approve': '1.1.0',
      'rollout.kuberik.com/approve-reason': 'CHG-1',
      'rollout.kuberik.com/unapprove': '1.0.0',
      'rollout.kuberik.com/approvals': approvalsRecord,
    },
  },
);
const policy = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'app', {
  spec: {
    imageRepositoryRef: { name: 'app' },
    policy: { semver: { range: '*' } },
    filterTags: { pattern: '^v?(?P<v>.*)$', extract: '$v' },
  },
  status: { latestRef: { name: 'registry.example/app', tag: '1.1.0', digest: 'sha256:2' } },
});
const checked = (name: string, spec: object, status: object, annotations: object = {}) =>
  full('HealthCheck', name, { spec, status }, { labels: { team: 'a' }, annotations });
const healthCheck = checked(
  'web',
  { class: 'kustomization' },
  { status: 'Healthy' },
  {
    'healthcheck.kuberik.com/kustomization': 'shop/web',
    'healthcheck.kuberik.com/requeue-interval': '10s',
  },
);
const metricCheck = checked('errors', { class: 'prometheus' }, { status: 'Pending' });
const run = { namespace: 'shop', name: 'smoke-app-2' };
const jobCheck = checked('smoke', { class: 'job' }, { status: 'Pending', job: run });
const job = object(
  'batch/v1',
  'Job',
  runName({
    check: jobCheck as never,
    template: jobTemplate,
    rollout: rollout as never,
    head: rollout.status.history[0],
  }),
  { spec: jobTemplate.spec, status: { failed: 2, conditions } },
);

const kustomization = object(
  'kustomize.toolkit.fluxcd.io/v1',
  'Kustomization',
  'web',
  {
    spec: {
      interval: '10m',
      path: './',
      prune: true,
      suspend: true,
      sourceRef: { kind: 'OCIRepository', name: 'web' },
      postBuild: { substitute: { APP: '1.0.0' } },
    },
    status: {
      observedGeneration: 1,
      lastAppliedRevision: '1.0.0@sha256:1',
      lastAttemptedRevision: '1.0.0@sha256:1',
      conditions,
      inventory: {
        entries: [
          { id: 'shop_web_apps_Deployment', v: 'v1' },
          { id: 'shop_a__b__ConfigMap', v: 'v1' },
        ],
      },
    },
  },
  {
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'uid-owner' }],
    finalizers: ['finalizers.fluxcd.io'],
    managedFields: [
      {
        manager: 'kustomize-controller',
        operation: 'Apply',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:path': {}, 'f:postBuild': { 'f:substitute': { 'f:APP': {} } } } },
      },
    ],
    annotations: {
      'gate.fluxcd.io/gates': 'a,shop/b',
      'gate.fluxcd.io/selected-by': 'shop/a',
      'gate.fluxcd.io/state': 'closed: shop/a',
      'gate.fluxcd.io/suspended': 'false',
      'gate.fluxcd.io/bypass-reason': 'INC-1',
      'rollout.kuberik.com/substitute.APP.from': 'app',
      'rollout.kuberik.com/deployed': 'app=2/1.0.0/uid-app',
      'kubectl.kubernetes.io/last-applied-configuration':
        '{"spec":{"path":"./","postBuild":{"substitute":{"APP":"1.0.0"}}}}',
    },
  },
);
const repository = object(
  'source.toolkit.fluxcd.io/v1',
  'OCIRepository',
  'web',
  {
    spec: { url: 'oci://registry.example/app', interval: '1m', ref: { tag: '1.0.0' } },
    status: { observedGeneration: 1, conditions, artifact: { revision: '1.0.0@sha256:1', digest: 'sha256:1' } },
  },
  {
    labels,
    annotations: {
      'rollout.kuberik.com/rollout': 'app',
      'gate.fluxcd.io/gates': 'b',
      'gate.fluxcd.io/state': 'opening: 2026-03-27T09:59:00Z',
      'gate.fluxcd.io/suspended': 'true',
    },
  },
);
const helmRelease = object(
  'helm.toolkit.fluxcd.io/v2',
  'HelmRelease',
  'web',
  {
    spec: { interval: '1m', chartRef: { kind: 'OCIRepository', name: 'web' }, values: { replicas: 3 } },
    status: {
      observedGeneration: 1,
      conditions,
      lastAppliedRevision: '1.0.0',
      history: [{ version: 2, status: 'deployed', chartVersion: '1.0.0', ociDigest: 'sha256:1' }],
    },
  },
  { labels, annotations: { 'rollout.kuberik.com/rollout': 'app', 'gate.fluxcd.io/gates': 'b' } },
);
const target = (about: AnyObject) => {
  const { apiVersion, kind, metadata } = about;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
};
const source = { apiVersion: repository.apiVersion, kind: 'OCIRepository', namespace: 'shop', name: 'web' };
const bindingGates = [
  { namespace: 'shop', gate: 'a', selected: true },
  { namespace: 'shop', gate: 'b' },
];
/** It reads its Rollouts and Gates itself; the other has what its decorator reports. */
const binding = full(
  'FluxBinding',
  'kustomization-web',
  {
    spec: { target: target(kustomization), source, gates: bindingGates, report: undefined },
    status: {
      deployed: 'app=2/1.0.0/uid-app',
      pins: [{ rollout: 'app', variable: 'APP', id: 2, version: '1.0.0', uid: 'uid-app', state: 'Waiting' }],
      gates: [{ namespace: 'shop', gate: 'a', opened: false, message: 'closed' }],
      awaits: { namespace: 'shop', name: 'apps', since: AT, state: 'Asked', stateSince: AT },
    },
  },
  { labels: { 'app.rollout.kuberik.com/bound': '', 'gate.fluxcd.io/resumed-by': 'shop.apps' } },
);
const followerBinding = full(
  'FluxBinding',
  'helmrelease-web',
  { spec: { target: target(helmRelease), source, pins: [{ rollout: 'app' }], observed: { applied: 'sha256:1' } } },
  { labels: { 'app.rollout.kuberik.com/bound': '' } },
);
const schedule = full('RolloutSchedule', 'hours', { spec: { action: 'Allow' } });
const slots = { status: { maxConcurrent: 1, slots: [1, 2].map((request) => grant(request)) } };
function grant(request: number) {
  const [slot] = full('RolloutBudget', 'fleet').status.slots;
  return { ...slot, request, uid: request === 1 ? 'uid-app' : 'gone', state: request === 1 ? 'Granted' : 'Baking' };
}
const budget = full('RolloutBudget', 'fleet', slots, {
  labels: { '0123456789abcdef.slot.rollout.kuberik.com/granted': '' },
  annotations: {
    'rollout.kuberik.com/continue': '1.2.0',
    'rollout.kuberik.com/continue-request': `uid-1 ${AT} system:admin`,
  },
});
const clusterBudget = full('ClusterRolloutBudget', 'fleet', slots, { namespace: undefined });
const namespace = object('v1', 'Namespace', 'shop', {}, { namespace: undefined, labels: { team: 'a' } });
const secret = object('v1', 'Secret', 'token', { data: { token: 'c2VjcmV0' } });
const deploymentObject = object('apps/v1', 'Deployment', 'web', {
  spec: { replicas: 1 },
  status: { observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1, conditions },
});

const WORLD = [
  closed,
  open,
  rollout,
  stage,
  rolloutGate,
  policy,
  healthCheck,
  metricCheck,
  jobCheck,
  kustomization,
  repository,
  helmRelease,
  binding,
  budget,
  clusterBudget,
  followerBinding,
  namespace,
  secret,
  deploymentObject,
];

const controller = {
  apiVersion: 'metacontroller.k8s.io/v1alpha1',
  kind: 'CompositeController',
  metadata: { name: 'c' },
};

function mapOf(objects: AnyObject[]) {
  const groups = Map.groupBy(objects, ({ apiVersion, kind }) => `${kind}.${apiVersion}`);
  return Object.fromEntries(
    [...groups].map(([key, list]) => [
      key,
      Object.fromEntries(
        list.map((each) => [[each.metadata.namespace, each.metadata.name].filter(Boolean).join('/'), each]),
      ),
    ]),
  );
}

const SUBJECTS: Record<string, AnyObject[]> = {
  rollout: [rollout],
  'rollout-requests': [rollout],
  'rollout-status': [rollout],
  rolloutgate: [rolloutGate],
  healthcheck: [healthCheck, metricCheck, jobCheck],
  'health-check': [healthCheck],
  rolloutschedule: [schedule],
  clusterrolloutschedule: [full('ClusterRolloutSchedule', 'hours', { spec: { action: 'Allow' } })],
  schedule: [schedule],
  rolloutbudget: [budget],
  clusterrolloutbudget: [clusterBudget],
  'rolloutbudget-slots': [budget, clusterBudget],
  gate: [closed, open],
  'gate-labels': [closed, open],
  fluxbinding: [binding, followerBinding],
  flux: [kustomization, repository, helmRelease],
  hold: [kustomization, repository, helmRelease],
  'flux-created': [kustomization, repository, helmRelease],
};

function hookBody(about: AnyObject): object {
  const map = mapOf(WORLD);
  const own = mapOf([binding, rolloutGate, ...(about.kind === 'HealthCheck' ? [job] : [])]);
  return { controller, parent: about, object: about, children: own, attachments: own, related: map, finalizing: false };
}

const known = new Map<string, Sample[]>();

export function sampleBodies(path: string): Sample[] {
  const found = known.get(path) ?? make(path);
  known.set(path, found);
  return found;
}

function make(path: string): Sample[] {
  const [, door, first, second = ''] = path.split('/');
  const name = door === 'hooks' ? first! : second;
  const subjects = SUBJECTS[name];
  if (!subjects) throw new Error(`no sample for ${path}: add one to dev/fuzz/families/samples.ts`);
  const requests = subjects.flatMap((about) =>
    door === 'hooks' ? [hookBody(about)] : reviews(about, name === 'rollout-status'),
  );
  return requests.map((request) => ({ request, world: WORLD }));
}

function reviews(about: AnyObject, ofStatus: boolean): object[] {
  const subResource = ofStatus ? { subResource: 'status' } : {};
  const changed = {
    ...about,
    spec: { ...about.spec, interval: '5m', gates: undefined },
    metadata: {
      ...about.metadata,
      annotations: { ...about.metadata.annotations, 'gate.fluxcd.io/bypass-reason': 'INC-2' },
    },
  };
  const update = (user: string) =>
    reviewOf({ user, object: changed, oldObject: about, fieldManager: 'kustomize-controller', ...subResource });
  if (ofStatus) return [update('developer')];
  const connect = update('developer');
  connect.request!.operation = 'CONNECT';
  return [
    update('developer'),
    update('admin'),
    update('system:serviceaccount:metacontroller:metacontroller'),
    reviewOf({ user: 'developer', object: about }),
    reviewOf({ user: 'developer', oldObject: about }),
    reviewOf({ user: 'admin', oldObject: about }),
    connect,
  ];
}
