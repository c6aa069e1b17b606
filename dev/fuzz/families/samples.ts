/** For each route, valid requests: what the mangled ones start from. */
import { runName } from '../../../core/health/job/checkJob.ts';
import { type AnyObject, reviewOf } from '../world/apiServer.ts';
import { METACONTROLLER } from '../world/users.ts';

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

const approvals = {
  required: 2,
  notBy: ['requester', 'author'],
  expireAfter: '24h',
  serviceAccounts: ['ci/release-bot'],
};
const approvalsStatus = {
  approvals: {
    required: 2,
    progress: '1/2 for 1.1.0',
    changedBy: 'sre',
    changedAt: AT,
    changes: 1,
    versions: [
      {
        version: '1.1.0',
        rollout: 'shop/app',
        count: 1,
        enough: false,
        given: [{ by: 'alice', at: AT, reason: 'CHG-1', expiresAt: AT, doesNotCount: 'asked for it' }],
      },
    ],
  },
};
const approvalsRecord = JSON.stringify({
  given: [{ version: '1.1.0', rollout: 'shop/app', uid: 'uid-app', by: 'alice', at: AT, reason: 'CHG-1' }],
  changes: [{ number: 1, by: 'sre', at: AT, fields: [{ path: 'approvals.required', from: '2', to: '1' }] }],
});

const closed = object(
  'gating.toolkit.fluxcd.io/v1alpha1',
  'Gate',
  'a',
  {
    spec: {
      default: 'closed',
      window: '1h',
      interval: '1m',
      schedule: {
        timezone: 'Europe/Berlin',
        action: 'Open',
        rules: [
          {
            name: 'day',
            timeRange: { start: '22:00', end: '06:00' },
            daysOfWeek: ['Friday'],
            dateRange: { start: '2026-01-01', end: '2026-12-31' },
          },
        ],
      },
      selects: {
        kinds: ['Kustomization', 'Rollout'],
        namespaceSelector: expressions,
        labelSelector: { matchLabels: { tier: 'production' } },
      },
      receiver: { type: 'hmac', secretRef: { name: 'token' } },
      approvals,
    },
    status: {
      observedGeneration: 1,
      ...approvalsStatus,
      request: { action: 'close', at: AT, by: 'sre', reason: 'INC-1' },
      planned: { action: 'open', at: '2026-03-28T09:00:00Z', by: 'sre' },
      held: 1,
      heldObjects: [{ kind: 'Rollout', namespace: 'shop', name: 'app' }],
      webhookPath: '/hook/1',
      conditions,
    },
  },
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

const deployment = (tag: string, id: number) => ({
  id,
  version: { tag, digest: 'sha256:1', version: tag, revision: 'abc', created: AT },
  timestamp: AT,
  message: 'Automatic deployment',
  origin: ['Automatic'],
  triggeredBy: { kind: 'System', name: 'rollout-controller' },
  bakeStatus: id === 2 ? 'InProgress' : 'Failed',
  bakeStartTime: AT,
  waitedSeconds: 5,
  failedHealthChecks: [{ name: 'web', namespace: 'shop', message: 'down' }],
});
const rollout = object(
  KUBERIK,
  'Rollout',
  'app',
  {
    spec: {
      releasesImagePolicy: { name: 'app', namespace: 'shop' },
      wantedVersion: '1.1.0',
      versionHistoryLimit: 5,
      bakeTime: '5m',
      deployTimeout: '1h',
      releaseUpdateInterval: '1m',
      healthCheckSelector: { selector: expressions, namespaceSelector: {} },
      gates: [{ name: 'a' }, { name: 'b', namespace: 'shop' }],
      after: [{ name: 'staging', namespace: 'shop', bakedFor: '1h', match: 'revision' }],
      targetRepository: {
        url: 'oci://registry.example/prod/app',
        secretRef: { name: 'push' },
        certSecretRef: { name: 'ca' },
        insecure: false,
        when: 'BeforeDeployment',
        overwrite: true,
      },
      onFailure: 'Hold',
      releaseConfigMap: { name: 'app-release' },
    },
    status: {
      observedGeneration: 1,
      revision: 9,
      handledRequest: { retry: 'r1' },
      conditions,
      currentVersion: '1.0.0',
      copy: {
        tag: '1.0.0',
        url: 'oci://registry.example/prod/app',
        digest: 'sha256:1',
        bytes: 7,
        uploadedBytes: 3,
        time: AT,
      },
      history: [deployment('1.0.0', 2), deployment('0.9.0', 1)],
      availableReleases: [{ tag: '0.9.0' }, { tag: '1.0.0' }, { tag: '1.1.0', created: AT }],
      releaseCandidates: [{ tag: '1.1.0' }],
      gatedReleaseCandidates: [{ tag: '1.1.0' }],
      rejectedReleases: [{ tag: '1.2.0', gate: 'qa', timestamp: AT }],
      releaseAuthors: [{ tag: '1.1.0', authors: 'Alice <alice@example.com>' }],
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
const rolloutGate = object(
  KUBERIK,
  'RolloutGate',
  'qa',
  {
    spec: {
      rolloutRef: { name: 'app' },
      passing: true,
      allowedVersions: ['1.1.0'],
      rejectedVersions: ['1.2.0'],
      approvals,
    },
    status: approvalsStatus,
  },
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
const healthCheck = object(
  KUBERIK,
  'HealthCheck',
  'web',
  {
    spec: { class: 'kustomization' },
    status: { status: 'Healthy', message: 'well', lastErrorTime: AT, lastChangeTime: AT },
  },
  {
    labels: { team: 'a' },
    annotations: {
      'healthcheck.kuberik.com/kustomization': 'shop/web',
      'healthcheck.kuberik.com/requeue-interval': '10s',
    },
  },
);
const metricCheck = object(KUBERIK, 'HealthCheck', 'errors', {
  spec: {
    class: 'prometheus',
    prometheus: {
      provider: 'prometheus',
      query: 'errors{version="{{ version }}"}',
      thresholdRange: { min: 0, max: 0.5 },
      interval: '30s',
      failureLimit: 2,
      onEmpty: 'Healthy',
    },
  },
  status: {
    status: 'Pending',
    message: '1 is outside the range (0 to 0.5), 1 of 2 times in a row',
    lastChangeTime: AT,
    prometheus: { failures: 1, measurements: [{ time: AT, result: 'OutOfRange', value: '1', series: 2 }] },
  },
});

const jobTemplate = {
  metadata: { labels: { team: 'a' }, annotations: { note: 'x' } },
  spec: { backoffLimit: 1, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b:1' }] } } },
};
const jobCheck = object(
  KUBERIK,
  'HealthCheck',
  'smoke',
  {
    spec: { class: 'job', job: { template: jobTemplate } },
    status: { status: 'Pending', message: 'runs', lastChangeTime: AT, job: { namespace: 'shop', name: 'smoke-app-2' } },
  },
  { labels: { team: 'a' } },
);
const job = object(
  'batch/v1',
  'Job',
  runName({
    check: jobCheck as never,
    template: jobTemplate,
    rollout: rollout as never,
    head: rollout.status.history[0],
  }),
  {
    spec: jobTemplate.spec,
    status: { failed: 2, conditions },
  },
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
const binding = object(
  KUBERIK,
  'FluxBinding',
  'kustomization-web',
  {
    spec: {
      target: { apiVersion: kustomization.apiVersion, kind: 'Kustomization', name: 'web', uid: 'uid-web' },
      pins: [{ rollout: 'app', variable: 'APP' }],
      gates: [
        { namespace: 'shop', name: 'a', selected: true },
        { namespace: 'shop', name: 'b' },
      ],
      problems: ['something'],
      source: { apiVersion: repository.apiVersion, kind: 'OCIRepository', namespace: 'shop', name: 'web' },
      awaits: { namespace: 'shop', name: 'apps', since: AT },
      observed: { deployed: [{ rollout: 'app', id: 2, version: '1.0.0', uid: 'uid-app' }], applied: '1.0.0@sha256:1' },
    },
    status: {
      observedGeneration: 1,
      deployed: 'app=2/1.0.0/uid-app',
      pins: [{ rollout: 'app', variable: 'APP', id: 2, version: '1.0.0', uid: 'uid-app', state: 'Waiting' }],
      gates: [{ namespace: 'shop', name: 'a', opened: false, message: 'closed' }],
      heldSince: AT,
      awaits: { namespace: 'shop', name: 'apps', since: AT, state: 'Asked', stateSince: AT },
      conditions,
    },
  },
  { labels: { 'app.rollout.kuberik.com/bound': '', 'gate.fluxcd.io/resumed-by': 'shop.apps' } },
);
const followerBinding = object(
  KUBERIK,
  'FluxBinding',
  'helmrelease-web',
  {
    spec: {
      target: { apiVersion: helmRelease.apiVersion, kind: 'HelmRelease', name: 'web', uid: 'uid-web' },
      pins: [{ rollout: 'app' }],
      source: { apiVersion: repository.apiVersion, kind: 'OCIRepository', namespace: 'shop', name: 'web' },
      observed: { applied: 'sha256:1' },
    },
    status: { observedGeneration: 1, pins: [{ rollout: 'app', state: 'Waiting', message: 'why' }], conditions },
  },
  { labels: { 'app.rollout.kuberik.com/bound': '' } },
);
const schedule = object(KUBERIK, 'RolloutSchedule', 'hours', {
  spec: { rolloutSelector: expressions, action: 'Allow', timezone: 'Europe/Berlin', rules: closed.spec.schedule.rules },
  status: { active: true, activeRules: ['day'], managedGates: ['schedule-gate-1'], conditions },
});
const slot = { namespace: 'shop', name: 'app', uid: 'uid-of-app', image: 'registry.example/app', grantedTime: AT };
const budget = object(
  KUBERIK,
  'RolloutBudget',
  'fleet',
  {
    spec: {
      selector: expressions,
      maxConcurrent: '10%',
      maxFailures: 2,
      order: { label: 'ring', values: ['canary', 'eu'] },
      cooldown: '10m',
      slotTimeout: '2h',
    },
    status: {
      revision: 3,
      handledRequest: 'uid-0',
      selected: 2,
      maxConcurrent: 1,
      slots: [
        { ...slot, request: 7, version: '1.2.0', rolloutRevision: 7, state: 'Granted' },
        { ...slot, uid: 'gone', version: '1.1.0', digest: 'sha256:1', rolloutRevision: 2, state: 'Baking' },
      ],
      cooling: [AT],
      versions: [
        {
          image: 'registry.example/app',
          version: '1.2.0',
          failed: 1,
          failures: [{ namespace: 'shop', name: 'b', uid: 'uid-of-b' }],
          wave: 'canary 0/1',
          waves: [{ value: 'canary', total: 1, done: 0, underWay: 0, waiting: 1, failed: 0 }],
        },
      ],
      conditions,
    },
  },
  {
    labels: { '0123456789abcdef.slot.rollout.kuberik.com/granted': '' },
    annotations: {
      'rollout.kuberik.com/continue': '1.2.0',
      'rollout.kuberik.com/continue-request': `uid-1 ${AT} system:admin`,
    },
  },
);
const clusterBudget = object(
  KUBERIK,
  'ClusterRolloutBudget',
  'fleet',
  { spec: { ...budget.spec, namespaceSelector: expressions }, status: budget.status },
  { namespace: undefined },
);
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
  clusterrolloutschedule: [
    { ...schedule, kind: 'ClusterRolloutSchedule', spec: { ...schedule.spec, namespaceSelector: expressions } },
  ],
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
    update(METACONTROLLER),
    reviewOf({ user: 'developer', object: about }),
    reviewOf({ user: 'developer', oldObject: about }),
    reviewOf({ user: 'admin', oldObject: about }),
    connect,
  ];
}
