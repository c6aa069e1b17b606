/**
 * RolloutBudgets and the Rollouts that they select. A ClusterRolloutBudget selects Rollouts that any tenant may write.
 */
import { type Input, object, review, rollout, synced, text, times } from './input.ts';

const KUBERIK = 'kuberik.com/v1alpha1';
const AT = '2026-03-04T09:00:00Z';
const IMAGE = 'registry.example/web';

const budget = (spec: object = {}, status?: object, annotations: Record<string, string> = {}) =>
  object(KUBERIK, 'RolloutBudget', {
    metadata: { name: 'fleet', annotations },
    spec: { selector: {}, maxConcurrent: 1000, maxFailures: 1, ...spec },
    ...(status && { status: { revision: 1, ...status } }),
  });

const digest = (i: number) => `sha256:${String(i).padStart(64, '0')}`;

/** A Rollout that requests a slot for these versions, with a history. */
const asking = (i: number, versions: object[], history: object[] = [], more: object = {}) =>
  rollout({
    metadata: { name: `r${i}`, uid: `u${i}`, labels: { app: 'web', ring: `r${i % 25}` } },
    status: {
      revision: 5,
      image: IMAGE,
      slotRequest: { id: 5, since: AT, versions, budgets: ['RolloutBudget/fleet'] },
      ...(history.length > 0 && { history }),
      ...more,
    },
  });

const entry = (id: number, version: object, bakeStatus: string) => ({ id, version, timestamp: AT, bakeStatus });
const offered = (count: number) => times(count, (i) => ({ tag: `1.${count - i}.0` }));

const slot = (i: number, more: object = {}) => ({
  namespace: 'shop',
  name: `r${i}`,
  uid: `u${i}`,
  request: 5,
  version: '1.0.0',
  image: IMAGE,
  rolloutRevision: 5,
  grantedTime: AT,
  state: 'Granted',
  ...more,
});

/** The largest selector that the CRD allows: 16 labels, and 16 expressions of 64 values each. */
const largest = {
  matchLabels: Object.fromEntries(times(16, (i) => [`l${i}`, 'x'.repeat(63)])),
  matchExpressions: times(16, (i) => ({
    key: `k${i}`,
    operator: 'NotIn',
    values: times(64, (j) => `${j}`.padStart(63, 'v')),
  })),
};
const labelled = (i: number) =>
  rollout({ metadata: { name: `r${i}`, uid: `u${i}`, labels: largest.matchLabels }, status: { revision: 5 } });

const order = { label: 'ring', values: times(20, (i) => `r${i}`) };

/** 1,000 Rollouts, each with versions of its own and a history of failures. */
const failing = (spec: object, versionsOf: (i: number) => object[], more: object[] = []) =>
  synced(
    'rolloutbudget',
    budget(spec),
    times(1000, (i) => {
      const versions = versionsOf(i);
      const all = [...versions, ...more];
      return asking(
        i,
        versions,
        all.map((version, j) => entry(all.length - j, version, 'Failed')),
      );
    }),
  );
const digestsOf = (i: number) => times(20, (j) => ({ tag: 'a', digest: digest(i * 20 + j) }));
const FIRST = { order: { label: 'ring', values: ['r0'] } };

export const BUDGETS: Record<string, () => Input> = {
  'a budget whose 1,000 Rollouts offer 20 versions each, in 20 waves': () =>
    synced(
      'rolloutbudget',
      budget({ order }),
      times(1000, (i) => asking(i, offered(20))),
    ),
  'a budget of 10,000 Rollouts': () =>
    synced(
      'rolloutbudget',
      budget({ order }),
      times(10_000, (i) => asking(i, offered(2))),
    ),
  '1,000 Rollouts that offer 20 digests of one tag each, and every one has failed somewhere': () =>
    failing(FIRST, digestsOf),
  '1,000 Rollouts that offer 20 digests of one tag each, and have deployed it without one': () =>
    failing({ ...FIRST, maxFailures: 1000 }, digestsOf, [{ tag: 'a' }]),
  '1,000 Rollouts, each with 20 versions of its own that have failed everywhere before': () =>
    failing({}, (i) => times(20, (j) => ({ tag: `1.${i}.${j}` }))),
  'one Rollout with 40,000 deployments that have failed, of one tag': () => {
    const history = times(40_000, (i) => entry(40_000 - i, { tag: '1.1.0', digest: digest(i) }, 'Failed'));
    const others = times(100, (i) => asking(i + 1, [{ tag: '1.1.0', digest: digest(i) }]));
    return synced('rolloutbudget', budget(), [asking(0, offered(20), history), ...others]);
  },
  'a budget with the largest status: 1,000 slots, and 20 versions that have failed 100 times': () => {
    const name = (i: number) => `${i}`.padStart(253, 'r');
    const [namespace, image] = ['n'.repeat(63), `registry.example/${'i'.repeat(480)}`];
    const failures = times(100, (i) => ({ namespace, name: name(i), uid: `u${i}` }));
    const versions = times(20, (i) => ({
      image,
      version: `${i}`.padStart(128, '1'),
      failed: 100,
      failures,
      blocked: true,
    }));
    const rollouts = times(1000, (i) => {
      const made = asking(i, offered(1), [entry(1, { tag: '1'.repeat(128), digest: digest(1) }, 'Deploying')], {
        image,
      });
      return { ...made, metadata: { ...made.metadata, name: name(i), namespace } };
    });
    const slots = times(1000, (i) => slot(i, { namespace, name: name(i), image, version: '1'.repeat(128) }));
    return synced('rolloutbudget', budget({ order }, { slots, versions }), rollouts);
  },
  '1,000 holders that are selected no longer': () => {
    const holders = times(1000, (i) => asking(i, offered(20)));
    const about = budget({ selector: { matchLabels: { app: 'other' } } }, { slots: times(1000, (i) => slot(i)) });
    return synced('rolloutbudget', about, [], holders);
  },
  'a budget with the largest selector, and 1,000 Rollouts that it selects': () =>
    synced('rolloutbudget', budget({ selector: largest }), times(1000, labelled)),
  'a budget with 1,000 grants, and 10,000 labels of others': () => {
    const about = budget({}, { slots: times(1000, (i) => slot(i)) });
    const labels = Object.fromEntries(times(10_000, (i) => [`h${i}.slot.rollout.kuberik.com/granted`, '']));
    return synced('rolloutbudget-slots', { ...about, metadata: { ...about.metadata, labels } });
  },
  '256 kB of continue': () => {
    const annotations = {
      'rollout.kuberik.com/continue': text(120, '1.'),
      'rollout.kuberik.com/continue-request': JSON.stringify({ id: text(60), by: text(60), at: AT }),
    };
    const about = budget({}, {}, annotations);
    const body = review(about, about, { userInfo: { username: text(1) } });
    return { paths: ['/admission/mutate/rolloutbudget'], body };
  },
  'a Rollout that 10 budgets with 1,000 slots each select, and 90 more with the largest selector': () => {
    const related = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', {
      spec: { imageRepositoryRef: { name: 'web' }, policy: { semver: { range: '*' } } },
      status: { latestRef: { name: IMAGE, tag: '1.1.0' } },
    });
    const about = rollout({
      metadata: { labels: largest.matchLabels },
      status: {
        revision: 1,
        image: IMAGE,
        history: [entry(1, { tag: '1.0.0' }, 'Succeeded')],
        availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }],
        slotRequest: { id: 1, since: AT, versions: offered(20), budgets: [] },
      },
    });
    const full = times(10, (i) => {
      const made = budget(
        { selector: largest },
        { slots: times(1000, (j) => slot(j, { uid: 'uid-web', request: 2 })) },
      );
      return { ...made, metadata: { ...made.metadata, name: `full${i}` } };
    });
    const others = times(90, (i) => {
      const expressions = [...largest.matchExpressions.slice(1), { key: 'l15', operator: 'DoesNotExist' }];
      const made = budget({ selector: { ...largest, matchExpressions: expressions } });
      return { ...made, metadata: { ...made.metadata, name: `other${i}` } };
    });
    return synced('rollout', about, [related], [...full, ...others]);
  },
};
