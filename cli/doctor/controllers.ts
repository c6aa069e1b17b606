/** Metacontroller: there, with the flags that it needs, with our controllers, and awake; and the server behind it. */
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject } from '../../api/kubernetes.ts';
import { type Finding, fine, orFine, problem, unseen } from '../../client/explain/doctor/finding.ts';
import { behind } from '../../client/explain/doctor/waits.ts';
import { few } from '../../core/kube/firstFew.ts';
import { type Check, type Examined, ofKind, seen } from './examined.ts';

const ABOUT = 'Metacontroller';
const METACONTROLLER = 'metacontroller.k8s.io/v1alpha1';

/** Those that every installation has; the others of Flux are as its components are. */
export const CONTROLLERS: Record<string, readonly string[]> = {
  compositecontrollers: [
    'clusterrolloutbudgets',
    'clusterrolloutschedules',
    'fluxbindings',
    'gates',
    'rolloutbudgets',
    'rollouts',
    'rolloutschedules',
  ],
  decoratorcontrollers: [
    'flux-kustomize',
    'flux-source',
    'gate-labels',
    'healthchecks',
    'hold-kustomize',
    'hold-source',
    'rollout-requests',
    'rolloutbudget-slots',
    'rolloutgates',
  ],
};
const FLAGS = ['--client-go-qps', '--client-go-burst', '--workers'];
const OLDEST = [4, 15] as const;

interface Workload extends KubeObject<any, any> {
  spec: {
    replicas?: number;
    template: { spec: { containers: { image?: string; args?: string[]; env?: { name: string; value?: string }[] }[] } };
  };
}

export const checkMetacontroller: Check = async ({ client }) => {
  const notes: Finding[] = [];
  const lists = await Promise.all(
    ['statefulsets', 'deployments'].map((resource) =>
      seen<Workload>(client, { apiVersion: 'apps/v1', resource }, ABOUT, notes),
    ),
  );
  const found = lists
    .flatMap((list) => list ?? [])
    .flatMap((workload) =>
      workload.spec.template.spec.containers
        .filter(({ image = '' }) => /(^|\/)metacontroller(:|@|$)/.test(image) || /metacontroller/.test(image))
        .map((container) => ({ workload, container })),
    );
  const [first] = found;
  if (!first)
    return notes.length > 0
      ? notes.slice(0, 1)
      : [unseen(ABOUT, 'it does not run in this cluster as a Deployment or StatefulSet')];
  const { image = '', args = [] } = first.container;
  const version = /:v?(\d+)\.(\d+)/.exec(image);
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  const missing = FLAGS.filter((flag) => !args.some((arg) => arg.startsWith(flag)));
  const problems = [
    ...(version && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
      ? [problem(ABOUT, `${image} is older than ${OLDEST.join('.')}`, 'upgrade it: hook version v2 is needed')]
      : []),
    ...(missing.length > 0
      ? [
          problem(
            ABOUT,
            `It runs without ${missing.join(', ')}: about one release every two seconds gets through`,
            'manifests/metacontroller/README.md',
          ),
        ]
      : []),
  ];
  return [...orFine(ABOUT, problems, `${image}, with its flags`), ...notes];
};

export const checkControllers: Check = async ({ client }) => {
  const notes: Finding[] = [];
  const findings: Finding[] = [];
  for (const [resource, names] of Object.entries(CONTROLLERS)) {
    const found = await seen(client, { apiVersion: METACONTROLLER, resource }, ABOUT, notes);
    if (!found) continue;
    const there = new Set(found.map(({ metadata }) => metadata.name));
    const missing = names.filter((name) => !there.has(name));
    if (missing.length > 0) {
      findings.push(
        problem(
          ABOUT,
          `The ${resource} ${missing.join(', ')} do not exist: nobody looks after what they are for`,
          'apply them again',
          'kubectl apply --server-side -k manifests/controllers',
        ),
      );
    }
  }
  return notes.length === 2
    ? notes.slice(0, 1)
    : [...orFine(ABOUT, findings, 'our controllers are registered'), ...notes];
};

/** A status may be behind for a moment: what is behind at two looks is. */
const MOMENT_MS = 3000;

export const checkAwake: Check = async (examined) => {
  const notes: Finding[] = [];
  const first = await laggards(examined, notes);
  if (!first) return notes.slice(0, 1);
  if (first.length === 0) return [fine(ABOUT, 'awake: no Rollout and no Gate is behind'), ...notes];
  await wait(MOMENT_MS, undefined, { signal: examined.signal });
  const still = new Set(await laggards(examined, []));
  const asleep = first.filter((name) => still.has(name));
  if (asleep.length === 0) return [fine(ABOUT, 'awake: it has just caught up'), ...notes];
  return [
    problem(
      ABOUT,
      `It does not follow: the status of ${few(asleep, 3)} is behind. Admission is right meanwhile`,
      'look at its Pods and its log: docs/install.md, Troubleshooting',
      'kubectl -n metacontroller get pods',
    ),
  ];
};

async function laggards(examined: Examined, notes: Finding[]): Promise<string[] | undefined> {
  const lists = await Promise.all((['Rollout', 'Gate'] as const).map((kind) => ofKind(examined, kind, ABOUT, notes)));
  return lists.every((list) => list === undefined)
    ? undefined
    : behind(
        lists.flatMap((list) => list ?? []),
        examined.now(),
      );
}

/** The hook server, and a setting of it that surprises. */
export const checkServer: Check = async (examined) => {
  const about = 'Hook server';
  const notes: Finding[] = [];
  const found = await seen<Workload>(
    examined.client,
    { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'rollout-hooks' },
    about,
    notes,
  );
  const server = found?.find(({ metadata }) => metadata.name === 'rollout-hooks');
  if (!server)
    return notes.length > 0
      ? notes
      : [unseen(about, 'there is no Deployment rollout-hooks/rollout-hooks: it runs elsewhere')];
  const ready: number = server.status?.readyReplicas ?? 0;
  const wanted = server.spec.replicas ?? 1;
  const env = server.spec.template.spec.containers.flatMap((container) => container.env ?? []);
  const ownOnly = env.some(({ name, value }) => name === 'NO_CROSS_NAMESPACE_REFS' && value === 'true');
  return [
    ...orFine(
      about,
      ready < wanted
        ? [
            problem(
              about,
              `${ready} of ${wanted} replicas are ready`,
              'look at the Pods',
              'kubectl -n rollout-hooks describe pods',
            ),
          ]
        : [],
      `${ready} of ${wanted} replicas are ready`,
    ),
    ...(ownOnly ? await foreignFindings(examined) : []),
  ];
};

/** NO_CROSS_NAMESPACE_REFS: what names a Gate of another namespace is held until it no longer does. */
async function foreignFindings(examined: Examined): Promise<Finding[]> {
  const about = 'References';
  const notes: Finding[] = [];
  const [bindings, gates] = await Promise.all([
    ofKind<any>(examined, 'FluxBinding', about, notes),
    ofKind<any>(examined, 'Gate', about, notes),
  ]);
  const held = (bindings ?? []).filter(({ spec, metadata }) =>
    spec?.gates?.some((ref: any) => ref.namespace && ref.namespace !== metadata.namespace),
  );
  const wide = (gates ?? []).filter(({ spec }) => spec.selects?.namespaceSelector !== undefined);
  const names = [
    ...held.map(({ spec, metadata }) => `${spec.target.kind} ${metadata.namespace}/${spec.target.name}`),
    ...wide.map(({ metadata }) => `Gate ${metadata.namespace}/${metadata.name}`),
  ];
  if (names.length === 0)
    return [fine(about, 'NO_CROSS_NAMESPACE_REFS is set, and nothing reaches into another namespace')];
  return [
    problem(
      about,
      `NO_CROSS_NAMESPACE_REFS is set, and ${few(names, 5)} reach into other namespaces: these objects are suspended, these Gates cannot be changed`,
      'name Gates of their own namespace',
    ),
  ];
}
