/** A team's namespace: a Rollout, its bound objects, manifests in Git, Gates, and the users' actions. */
import { isDeepStrictEqual } from 'node:util';
import { OPEN_FOR } from '../../../api/annotations.ts';
import { fakeFlux } from '../../actors/fakeFlux.ts';
import { gitSync } from '../../actors/gitSync.ts';
import {
  gate,
  imagePolicy,
  kustomization,
  ociRepository,
  ref,
  type ref as refTo,
  rollout,
  rolloutBudget,
  rolloutGate,
} from '../../actors/objects.ts';
import type { Random } from '../../actors/random.ts';
import { requestGate } from '../../actors/requestGate.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { User } from '../../actors/user.ts';
import { type AnyObject, ApiError } from '../../client/send.ts';
import { reporterOf, WATCHED } from './reporter.ts';

export interface Users {
  admin: User;
  developer: User;
  sre: User;
  flux: User;
  reporter: User;
}

/** The users of a cluster; `as` makes a client. */
export const usersOf = (as: (name: keyof Users) => User): Users => ({
  admin: as('admin'),
  developer: as('developer'),
  sre: as('sre'),
  flux: as('flux'),
  reporter: as('reporter'),
});

/** Creates the platform team's Gate for all teams, and the budget of their Rollouts. */
export async function createPlatform({ admin, sre }: Users, maxConcurrent: number): Promise<void> {
  const selects = { namespaceSelector: { matchExpressions: [{ key: 'chaos', operator: 'Exists' }] } };
  await admin.create(gate(FLUX_NAMESPACE, EMERGENCY, { spec: { default: 'opened', selects } }));
  await sre.create(rolloutBudget(undefined, 'fleet', { selector: { matchLabels: SHARED }, maxConcurrent }));
}

type Ref = ReturnType<typeof refTo>;
/** Users' actions, with weights. */
const ACTS = {
  edit: 6,
  managedFieldEdit: 4,
  label: 2,
  resume: 3,
  remove: 2,
  unmark: 2,
  bypass: 1,
  pin: 2,
  force: 3,
  retry: 1,
  pass: 1,
  approve: 6,
  forge: 1,
  ungate: 2,
};
type Act = keyof typeof ACTS;

/** Gates that are always open. */
const MORE_GATES = ['open-1', 'open-2', 'open-3', 'open-4', 'open-5'];

/** The weights in teams that bake: a manual deployment cancels a bake. */
const ACTS_WHERE_BAKED = { ...ACTS, pin: 1, force: 1, retry: 3 };
/** `spec.onFailure` of the teams that bake, in turn. */
const ON_FAILURE = ['Rollback', 'Continue', 'Hold'];
const BAKE_TIMES = ['2s', '5s'];

/** Labels of the Rollouts that share the budget. */
const SHARED = { chaos: '' };
/** A window that ends during the run. */
const APPROVAL_WINDOW = '15s';
const SUSPENDED = 'gate.fluxcd.io/suspended';
/** Requests that must be handled at the end; a bypass stays until the next deployment. */
const REQUESTS = ['force-deploy', 'deploy-message', 'retry'];
export const FLUX_NAMESPACE = 'flux-system';
/** Name of the platform team's Gate. */
export const EMERGENCY = 'emergency';

/** @param isNearLimits whether the team's objects name more Gates than `requiredGates` of the simulation */
export function teamOf(
  index: number,
  { admin, developer, sre, flux, reporter }: Users,
  random: Random,
  isNearLimits = false,
) {
  const namespace = `team-${index}`;
  const owner = { namespace: FLUX_NAMESPACE, name: namespace };
  const fake = fakeFlux({ flux });
  const sync = gitSync(flux, owner);
  const app = ref('rollout', namespace, 'app');
  const qa = ref('rolloutGate', namespace, 'qa');
  /** Number of the newest commit for each object, which is in its path or interval. */
  const commits = { app: 0, web: 0, source: 0, fetched: 0 };
  /** Whether deployments require two approvals. */
  const requiresApprovals = index % 4 === 3;
  const signed = ref('gate', namespace, 'signed');
  /** Whether a Kustomization of a GitRepository is bound too; only Flux's status shows that it was applied. */
  const bindsGit = index % 4 < 2;
  const bakes = index % 2 === 1;
  const health = bakes ? reporterOf(namespace, reporter, random) : undefined;
  const more = isNearLimits ? MORE_GATES : [];
  const ownGates = [index % 2 === 0 ? 'freeze' : 'approval', ...(requiresApprovals ? ['signed'] : [])];
  /** Objects that lost the record of their suspension, while the API server didn't call the webhook. */
  const unmarked: Ref[] = [];
  let isCalm = false;
  let newest = 0;
  let requests = 0;

  const tag = (release: number) => `1.${release}.0`;
  const manifests = () => [
    ociRepository(namespace, 'app', {
      rollout: 'app',
      annotations: { 'gate.fluxcd.io/gates': 'freeze' },
      spec: { interval: `${commits.fetched + 10}m` },
    }),
    kustomization(namespace, 'app', {
      variables: { APP_VERSION: 'app' },
      annotations: { 'gate.fluxcd.io/gates': 'freeze' },
      spec: { path: `./git-${commits.app}` },
    }),
    kustomization(namespace, 'web', {
      ...(bindsGit && { variables: { APP_VERSION: 'app' } }),
      annotations: { 'gate.fluxcd.io/gates': 'freeze' },
      spec: { path: `./git-${commits.web}`, sourceRef: { kind: 'GitRepository', name: 'web' } },
    }),
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { namespace, name: 'web' },
      spec: { interval: `${commits.source + 10}m`, url: 'https://git.example.com/web' },
    } as AnyObject,
  ];
  /** A Kustomization that isn't in Git. */
  const manual = () =>
    kustomization(namespace, 'side', {
      annotations: { 'gate.fluxcd.io/gates': 'freeze,approval' },
      spec: { sourceRef: { kind: 'GitRepository', name: 'web' } },
    });
  const held: Ref[] = [
    ref('ociRepository', namespace, 'app'),
    ...['app', 'web', 'side'].map((name) => ref('kustomization', namespace, name)),
  ];
  const isBound = ({ kind, metadata: { name } }: AnyObject) =>
    kind !== 'GitRepository' && (name === 'app' || (name === 'web' && bindsGit));
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;
  const someVersion = () => tag(random.integer(1, Math.max(1, newest)));
  /** A version that the Rollout has seen; a request for another would stay pending. */
  const knownVersion = async (): Promise<string | undefined> => {
    const known: { tag: string }[] = (await developer.get(app)).status?.availableReleases ?? [];
    return known.length > 0 ? any(known).tag : undefined;
  };
  const request = (annotations: Record<string, string | null>) => {
    const named = Object.entries(annotations).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]);
    return { metadata: { annotations: Object.fromEntries(named) } };
  };
  const changeOf = (one: Ref, text: string) =>
    one.kind === 'Kustomization' ? { path: text } : { url: `oci://registry.example.com/${text.slice(2)}` };

  const approve = async (user: User, version: string) => {
    await user.mergePatch(signed, { metadata: { annotations: { 'approve.gate.fluxcd.io/for': version } } });
    await user.mergePatch(qa, request({ approve: version }));
  };

  /** Approves the requested version and the newest; refused until the Rollout has seen it. */
  const approveAll = async () => {
    const { annotations } = (await admin.get(app)).metadata;
    const forced = annotations?.['rollout.kuberik.com/force-deploy'];
    for (const version of new Set([forced ?? tag(newest), tag(newest)])) {
      // An approval from a time without the webhook counts once it is repeated: the first time gets a Warning.
      for (const user of [sre, sre, admin]) await approve(user, version);
    }
  };

  const nameGates = (names: readonly string[]) =>
    developer.mergePatch(app, { spec: { gates: names.map((name) => ({ name })) } });
  const selectRollouts = async (selects: object | null) => {
    for (const name of more) await sre.mergePatch(ref('gate', namespace, name), { spec: { selects } });
  };
  const many = ref('kustomization', namespace, 'many');
  const manyNames = (names: readonly string[]) =>
    kustomization(namespace, 'many', { annotations: { 'gate.fluxcd.io/gates': names.join() } });

  /** Writes that exceed a limit, and then those that the limit forbids. */
  const excesses: (() => Promise<unknown>)[][] = [
    [
      () => developer.create(manyNames(more.slice(0, random.integer(3, 5)))),
      () => acts.bypass(many),
      () => acts.edit(many),
      () => acts.label(many),
      () => developer.mergePatch(many, manyNames([])),
      () => developer.remove(many),
    ],
    [
      () => selectRollouts({ kinds: ['Rollout'], labelSelector: { matchLabels: { other: '' } } }),
      () => developer.mergePatch(app, { metadata: { labels: { noise: String(++requests) } } }),
      () => selectRollouts(null),
    ],
    [() => nameGates([...ownGates, ...more]), () => nameGates(ownGates)],
  ];

  const acts: Record<Act, (one?: Ref) => Promise<unknown>> = {
    edit: (one = any(held)) => {
      return developer.mergePatch(one, { spec: changeOf(one, `./manual-${++requests}`) });
    },
    managedFieldEdit: () =>
      random.next() < 0.5
        ? developer.mergePatch(held[1]!, { spec: { postBuild: { substitute: { APP_VERSION: '6.6.6' } } } })
        : developer.mergePatch(held[0]!, { spec: { ref: { tag: '6.6.6' } } }),
    label: (one = any(held)) => developer.mergePatch(one, { metadata: { labels: { noise: String(++requests) } } }),
    resume: () => developer.mergePatch(any(held), { spec: { suspend: false } }),
    remove: async () => {
      const one = any(held.slice(1));
      await developer.remove(one);
      if (one.metadata.name === 'side') await developer.create(manual());
    },
    unmark: async () => {
      const one = any(held);
      const { object } = await developer.mergePatch(one, {
        metadata: {
          annotations: {
            'gate.fluxcd.io/gates': null,
            'gate.fluxcd.io/suspended': null,
            'gate.fluxcd.io/state': 'open',
          },
        },
      });
      if (object.metadata.annotations?.[SUSPENDED] === undefined && object.spec.suspend) unmarked.push(one);
    },
    bypass: (one = any(held)) => {
      const reason = { 'gate.fluxcd.io/bypass-reason': `INC-${++requests}` };
      const suspend = random.next() < 0.5 ? false : undefined;
      const spec = { ...changeOf(one, `./hotfix-${requests}`), suspend };
      return sre.mergePatch(one, { metadata: { annotations: reason }, spec });
    },
    pin: () => developer.mergePatch(app, { spec: { wantedVersion: random.next() < 0.5 ? someVersion() : null } }),
    force: async () => {
      const version = await knownVersion();
      if (version === undefined) return;
      const wish = { 'force-deploy': version, 'deploy-message': `request ${++requests}` };
      await developer.mergePatch(app, request(wish));
    },
    retry: () => developer.mergePatch(app, request({ retry: '' })),
    pass: async () => {
      const version = await knownVersion();
      if (version !== undefined) await developer.mergePatch(app, request({ 'bypass-gates': version }));
    },
    approve: async () => {
      if (requiresApprovals) await approve(any([sre, admin]), random.next() < 0.7 ? tag(newest) : someVersion());
    },
    forge: () => self.forge(),
    ungate: () => nameGates(random.next() < 0.5 ? [] : ownGates),
  };

  const self = {
    namespace,
    releases: () => newest,
    create: async () => {
      await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { chaos: '' } } });
      await sre.create(gate(namespace, 'freeze', { spec: { default: 'opened' } }));
      await sre.create(gate(namespace, 'approval', { spec: { default: 'closed', window: APPROVAL_WINDOW } }));
      if (requiresApprovals) await sre.create(gate(namespace, 'signed', { spec: { approvals: { required: 2 } } }));
      const approvals = requiresApprovals && { approvals: { required: 2 } };
      await sre.create(rolloutGate(namespace, 'qa', 'app', { passing: true, ...approvals }));
      await admin.create(kustomization(owner.namespace, owner.name, { spec: { sourceRef: source } }));
      await admin.create(imagePolicy(namespace, 'app'));
      for (const name of more) await sre.create(gate(namespace, name, { spec: { default: 'opened' } }));
      const gates = ownGates.map((name) => ({ name }));
      const turn = index >> 1;
      const bake = bakes && {
        bakeTime: BAKE_TIMES[turn % BAKE_TIMES.length],
        deployTimeout: '20s',
        healthCheckSelector: { selector: { matchLabels: WATCHED } },
        onFailure: ON_FAILURE[turn % ON_FAILURE.length],
      };
      await health?.create();
      await developer.create(rollout(namespace, 'app', { labels: SHARED, spec: { gates, ...bake } }));
      await developer.create(manual());
    },
    /** Releases a new version of the image. */
    release: () => {
      newest++;
      return publish();
    },
    /** Opens or closes one of the Gates. */
    toggleGate: async () => {
      const which = any(['freeze', 'approval', 'qa'] as const);
      const opens = random.next() < 0.65;
      // An opening for a version that nobody releases neither opens nor closes the Gate.
      const version = opens && random.next() < 0.2 ? 'not-released' : null;
      if (which === 'qa') await sre.mergePatch(qa, { spec: { passing: opens } });
      else await requestGate(sre, namespace, which, opens ? 'open' : 'close', { more: { [OPEN_FOR]: version } });
    },
    /** Closes a Gate of the team, or the platform team's. */
    close: async (name: 'freeze' | 'approval' | 'qa' | typeof EMERGENCY) => {
      if (name === 'qa') await sre.mergePatch(qa, { spec: { passing: false } });
      else await requestGate(sre, name === EMERGENCY ? FLUX_NAMESPACE : namespace, name, 'close');
    },
    /** Closes a Gate that then begins to select; null ends that. */
    select: async (selects: object | null) => {
      if (selects) await requestGate(sre, namespace, 'approval', 'close');
      await sre.mergePatch(ref('gate', namespace, 'approval'), { spec: { selects } });
    },
    /** Commits a change to Git. */
    commit: async () => {
      commits[any(['app', 'web', 'source', 'fetched'] as const)]++;
    },
    sync: async () => {
      const { failed } = await sync(manifests());
      if (failed) throw failed;
    },
    /** Runs source-controller and kustomize-controller. */
    reconcile: () => fake.reconcile(namespace),
    /** Makes a random write of a user, allowed or not. */
    act: async () => {
      await acts[random.weighted(bakes ? ACTS_WHERE_BAKED : ACTS)]();
    },
    /** Writes other users' approvals into the record of a Gate or RolloutGate. */
    forge: async () => {
      if (!requiresApprovals) return;
      const [object, record, about] = any([
        [signed, 'gate.fluxcd.io/approvals', { rollout: `${namespace}/app` }],
        [qa, 'rollout.kuberik.com/approvals', {}],
      ] as const);
      const { uid } = (await sre.get(app)).metadata;
      const by = ['developer', 'admin'];
      const at = timestamp(sre.now());
      const given = by.map((user) => ({ version: tag(newest), ...about, uid, by: user, at }));
      await sre.mergePatch(object, { metadata: { annotations: { [record]: JSON.stringify({ given }) } } });
    },
    /** Exceeds a limit of Gates, and tries what that forbids. */
    exceed: async () => {
      for (const write of any(excesses)) await write().catch(unlessRefused);
    },
    /** Reports random health, or Healthy after `calm`. */
    report: async () => {
      await (isCalm ? health?.recover() : health?.act());
    },
    recover: async () => health?.recover(),
    /** Reports an error. */
    fail: async () => health?.fail(),
    /** Opens every Gate of the team. */
    open: async () => {
      await sre.mergePatch(qa, { spec: { passing: true } });
      for (const name of ['freeze', 'approval']) await requestGate(sre, namespace, name, 'open');
      if (requiresApprovals) await approveAll();
    },
    /** Withdraws pins and bypasses, and opens every Gate. */
    calm: async () => {
      isCalm = true;
      // The API server may have died before it stored the newest release, or before it answered.
      await publish();
      if (!(await developer.find(held.at(-1)!))) await developer.create(manual());
      // A bypass takes precedence, and would wait for approvals that no user gives then; a request for a version that
      // the Rollout has never seen would wait for it.
      await developer.mergePatch(app, {
        ...request({ 'bypass-gates': null, 'force-deploy': null }),
        spec: { wantedVersion: null },
      });
      await sre.mergePatch(ref('gate', namespace, 'approval'), { spec: { default: 'opened', window: null } });
      await selectRollouts(null);
      // One write may not drop more Gates than a decision reads, and a Gate that no Rollout names takes no approval.
      await nameGates([...ownGates, ...more.slice(0, 2)]);
      await self.open();
      await nameGates(ownGates);
      for (const one of unmarked) await developer.mergePatch(one, { spec: { suspend: null } });
    },
    /** Retries a failed deployment, and deploys the newest version again after its rollback. */
    mend: async () => {
      const { status, metadata } = await admin.get(app);
      const [head] = status?.history ?? [];
      if (openRequests(metadata).length > 0) return;
      if (head?.bakeStatus === 'Failed') await developer.mergePatch(app, request({ retry: '' }));
      else if (head?.bakeStatus === 'Succeeded' && status.rolledBackReleases?.includes(tag(newest))) {
        const wish = { 'force-deploy': tag(newest), 'deploy-message': `request ${++requests}` };
        await developer.mergePatch(app, request(wish));
      }
    },
    /** Differences from the state to which the team must converge. */
    unsettled: async () => {
      const objects = await Promise.all([...manifests(), manual()].map(async (wanted) => differences(wanted)));
      const { status, metadata } = await admin.get(app);
      const [head] = status?.history ?? [];
      const open = openRequests(metadata);
      return [
        ...objects.flat(),
        ...(head?.version.tag === tag(newest) ? [] : [`Rollout app has ${head?.version.tag}, not ${tag(newest)}`]),
        ...(['Succeeded', undefined].includes(head?.bakeStatus) ? [] : [`Rollout app is ${head?.bakeStatus}`]),
        ...open.map((name) => `Rollout app still has ${name}`),
      ].map((text) => `${namespace}: ${text}`);
    },
  };
  async function publish(): Promise<void> {
    const latestRef = { name: `registry.example.com/${namespace}`, tag: tag(newest) };
    await admin.patchStatus(ref('imagePolicy', namespace, 'app'), { latestRef });
  }
  async function differences(wanted: AnyObject): Promise<string[]> {
    const { kind, metadata } = wanted;
    const live = await admin.find(wanted as never);
    const name = `${kind} ${metadata.name}`;
    if (!live) return [`${name} is missing`];
    const fields = Object.entries(wanted.spec).filter(([field]) => !(metadata.name === 'side' && field === 'path'));
    const wrong = fields.filter(([field, value]) => !isDeepStrictEqual(live.spec[field], value));
    const value = live.kind === 'OCIRepository' ? live.spec.ref?.tag : live.spec.postBuild?.substitute?.APP_VERSION;
    return [
      ...wrong.map(([field, value]) => `${name} has ${field} ${JSON.stringify(live.spec[field])}, not ${value}`),
      ...(live.spec.suspend ? [`${name} is suspended`] : []),
      ...(live.metadata.annotations?.[SUSPENDED] === undefined ? [] : [`${name} still has ${SUSPENDED}`]),
      ...(!isBound(wanted) || value === tag(newest) ? [] : [`${name} has ${value}, not ${tag(newest)}`]),
    ];
  }
  return self;
}

export type Team = ReturnType<typeof teamOf>;

function unlessRefused(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}

function openRequests({ annotations }: AnyObject['metadata']): string[] {
  return REQUESTS.filter((name) => annotations?.[`rollout.kuberik.com/${name}`] !== undefined);
}

const source = { kind: 'GitRepository', name: 'fleet' };
