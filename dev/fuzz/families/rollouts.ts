/**
 * A sync of a Rollout in any state, from a cache that may be older than the cluster, against dev/reference/rollout.ts.
 */
import type { RolloutStatus } from '../../../api/types.ts';
import { composing } from '../../fakes/requests.ts';
import { initialBakeStatus, objections, versionsOf } from '../../reference/rollout.ts';
import { IMAGE, MINIMUM_AGE, NOW, READ_LIVE, REQUESTER, type RolloutCase } from './rolloutCases.ts';
import { objectsOf } from './rolloutObjects.ts';
import { type AnyObject, callRoute, expectThat, ROUTES, serve } from './routes.ts';

export async function checkRollout(input: RolloutCase): Promise<void> {
  const { live, history } = input;
  // A policy's latest tag is one that it selects.
  if (live.below && live.latest >= live.below) live.latest = '1.0.0';
  const isStale = Object.keys(input.stale).some((key) => !(READ_LIVE as readonly string[]).includes(key));
  const cached = objectsOf({ ...live, ...input.stale }, input, isStale ? 1 : 2);
  const stored = objectsOf(live, input, 2);
  serve({ now: NOW, objects: [stored.rollout, ...stored.others] });
  const body = composing(cached.rollout, { related: cached.others, children: { 'Job.batch/v1': {} } });
  const answer = await callRoute(ROUTES.get('/hooks/rollout/sync')!, body);
  // A hook in doubt fails as a whole.
  if (!('body' in answer)) return;
  const status: RolloutStatus = answer.body.status;
  const after = status.history ?? [];
  const [head, ...past] = after;
  const rolledBack = status.rolledBackReleases ?? [];
  const details = {
    cached: cached.rollout,
    stored: stored.rollout,
    others: stored.others,
    related: body.related,
    after,
  };
  const id = head?.id ?? 0;
  const kept = after.slice(id > history.length ? 1 : 0);
  const same = kept.every((entry, i) => entry.id === history.length - i && entry.version.tag === history[i]?.tag);
  expectThat(same, 'the history is rewritten', details);
  const again = status.releaseCandidates?.find(({ tag: each }) => rolledBack.includes(each));
  expectThat(!again, 'what was rolled back is a candidate', details);
  const isBound = live.bound.length > 0;
  // With other bound objects in the cache, other versions count as applied.
  if (!('bound' in input.stale) && !('isDeleted' in input.stale) && !live.isDeleted) {
    const entries = after.map(({ version, bakeStatus }) => ({ tag: version.tag, bakeStatus }));
    const { current, rollingOut } = versionsOf(entries, isBound);
    expectThat(status.currentVersion === current, `${current} is current`, { ...details, status });
    expectThat(status.rollingOutVersion === rollingOut, `${rollingOut} is rolling out`, { ...details, status });
  }
  const copied = copiedBy(answer.body.children ?? []);
  if (copied !== undefined) {
    const found = objectionsTo(
      { deployed: copied, rolledBackFrom: undefined, past: after, inTarget: undefined },
      input,
    );
    expectThat(found.length === 0, `${copied} is copied though ${found.join('; ')}`, details);
  }
  if (!head || id <= history.length) return;

  expectThat(id === history.length + 1, 'an id is skipped', details);
  const from = head.rolledBackFrom;
  const expected = input.rolledBack.filter((each) => each !== head.version.tag && each !== from);
  const lost = expected.filter((each) => isKnownStill(each, status) && !rolledBack.includes(each));
  expectThat(lost.length === 0, `${lost} no longer counts as rolled back`, details);
  expectThat(!from || rolledBack.includes(from), `${from} doesn't count as rolled back`, details);
  expectThat(!rolledBack.includes(head.version.tag), 'what is deployed still counts as rolled back', details);
  const inTarget = input.copies ? input.copies.done === head.version.tag : undefined;
  const found = objectionsTo({ deployed: head.version.tag, rolledBackFrom: from, past, inTarget }, input);
  const initial = initialBakeStatus({ bakes: input.bakes, isBound });
  expectThat(head.bakeStatus === initial, `a deployment does not begin as ${initial}`, details);
  expectThat(found.length === 0, `${head.version.tag} is deployed though ${found.join('; ')}`, details);
}

/** The version that a Job is to copy. */
function copiedBy(children: AnyObject[]): string | undefined {
  const args: string[] = children.find(({ kind }) => kind === 'Job')?.spec.template.spec.containers[0].args ?? [];
  return args.find((arg) => arg.startsWith('--tag='))?.slice('--tag='.length);
}

interface Deployment {
  deployed: string;
  rolledBackFrom: string | undefined;
  past: NonNullable<RolloutStatus['history']>;
  inTarget: boolean | undefined;
}

function objectionsTo(deployment: Deployment, input: RolloutCase): string[] {
  const { live, available, health, barrier } = input;
  const { deployed, past } = deployment;
  const open = (name: string, version?: string) => {
    const gate = live.gateStates[name];
    return gate === 'opened' || ((gate === 'for 1.2.0' || gate === 'approved 1.2.0') && version === '1.2.0');
  };
  const known = [
    ...available.map(({ tag: each }) => each),
    live.latest,
    ...(input.stale.latest ? [input.stale.latest] : []),
  ];
  const isOld = (each: string) => available.some((of) => of.tag === each && of.firstSeen === 'long ago');
  return objections({
    ...deployment,
    past: past.map((entry) => ({ ...entry, tag: entry.version.tag })),
    wantedVersion: live.wantedVersion,
    forceDeploy: live.forceDeploy,
    bypassGates: live.bypassGates,
    unblocked: live.unblock,
    policy: input.policy ? { latest: live.latest, below: live.below } : undefined,
    image: input.policy ? IMAGE : undefined,
    known,
    oldEnough: input.minimumReleaseAge === MINIMUM_AGE ? known.filter(isOld) : known,
    rolledBack: input.rolledBack,
    barriers: [...input.barriers, ...(barrier ? [barrier] : [])],
    rolloutGates: live.rolloutGates,
    requester: REQUESTER,
    gateFirst: input.gateFirst,
    bakes: input.bakes,
    after: live.after.map(({ name, hours }) => ({ bakedHours: hours, upstream: live.upstream[name] })),
    gatesOpenFor: [...live.gates, ...live.selecting.filter((name) => live.gateStates[name] !== 'missing')].map((name) =>
      open(name, deployed),
    ),
    gatesOfBoundOpen: live.bound.map((name) => open(name)),
    unhealthy: input.bakes && health?.status === 'Unhealthy',
    brokenByFailed: health?.changed === 'since then' || (past[0]?.failedHealthChecks?.length ?? 0) > 0,
    onFailure: input.onFailure,
    isDeleted: live.isDeleted,
  });
}

function isKnownStill(tag: string, { availableReleases, history }: RolloutStatus): boolean {
  const kept = [...(availableReleases ?? []), ...(history ?? []).map(({ version }) => version)];
  return kept.some((version) => version.tag === tag);
}
