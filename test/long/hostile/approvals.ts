/** Approvals on Gates and RolloutGates, with requesters and authors of versions. */
import { gate, type Input, object, review, rollout, synced, text, times, written } from './input.ts';

const KUBERIK = 'kuberik.com/v1alpha1';
const AT = '2026-03-04T09:00:00Z';

const rule = { required: 10, notBy: ['requester', 'author'], expireAfter: '24h' };

const given = (count: number, more: (i: number) => object = () => ({})) =>
  JSON.stringify({ given: times(count, (i) => ({ version: `1.${i}.0`, by: `user-${i}`, at: AT, ...more(i) })) });
/** 64 of the longest users and reasons. */
const longest = given(64, (i) => ({
  version: '1.1.0',
  rollout: 'shop/web',
  by: `${i}`.padStart(256, 'é'),
  reason: 'é'.repeat(256),
}));
const rolloutGate = (i: number, record: string) =>
  object(KUBERIK, 'RolloutGate', {
    metadata: { name: `g${i}`, annotations: { 'rollout.kuberik.com/approvals': record } },
    spec: { rolloutRef: { name: 'web' }, approvals: rule },
  });
const approvable = (record: string, annotations: Record<string, string> = {}) =>
  gate({
    metadata: { annotations: { 'gate.fluxcd.io/approvals': record, ...annotations } },
    spec: { default: 'closed', approvals: rule },
  });

const imagePolicy = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', {
  spec: { imageRepositoryRef: { name: 'web' }, policy: { semver: { range: '*' } } },
  status: { latestRef: { name: 'registry.example/web', tag: '1.999.0' } },
});

/** A Rollout with 1,000 candidates, one of which this user requests. */
const wanted = (deployUser: string, more: object = {}) =>
  rollout({
    metadata: {
      annotations: {
        'rollout.kuberik.com/deploy-user': deployUser,
        'rollout.kuberik.com/force-deploy': '1.1.0',
        'rollout.kuberik.com/request': JSON.stringify({ 'force-deploy': { id: 'uid-1', by: 'sre', at: AT } }),
      },
    },
    status: {
      revision: 1,
      history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: AT, bakeStatus: 'Succeeded' }],
      availableReleases: times(1000, (i) => ({ tag: `1.${i}.0` })),
      ...more,
    },
  });

const authors = (tag: string, words: string) => ({ tag, authors: words });

/** A sync of a Rollout with these Gates or RolloutGates. */
const required = (about: ReturnType<typeof rollout>, gates: ReturnType<typeof gate>[]): Input =>
  synced('rollout', about, [imagePolicy, ...gates], [about, ...gates]);

/** 40 RolloutGates with 64 approvals of one version, whose requester is 250 kB of these words. */
function requestedBy(words: string): Input {
  const gates = times(40, (i) =>
    rolloutGate(
      i,
      given(64, () => ({ version: '1.1.0' })),
    ),
  );
  return required(wanted(text(250, words), { releaseAuthors: [authors('1.1.0', text(0.25, words))] }), gates);
}

export const APPROVALS: Record<string, () => Input> = {
  '200 RolloutGates with 64 approvals each, 1,000 candidates': () => {
    const releaseAuthors = times(64, (i) => authors(`1.${i}.0`, text(0.25, 'a b ')));
    return required(
      wanted('ann', { releaseAuthors }),
      times(200, (i) => rolloutGate(i, given(64))),
    );
  },
  '10,000 RolloutGates with an approval each, 1,000 candidates': () =>
    required(
      wanted('ann'),
      times(10_000, (i) =>
        rolloutGate(
          i,
          given(1, () => ({ version: `1.${i % 1000}.0` })),
        ),
      ),
    ),
  '40 RolloutGates with 64 approvals of one version, asked for in 250 kB of words': () => requestedBy('ab.'),
  '40 RolloutGates with 64 approvals of one version, asked for in 250 kB of short words': () => requestedBy('a '),
  '100 Gates with 64 of the longest approvals': () => {
    const gates = times(100, (i) => {
      const made = approvable(longest);
      return { ...made, metadata: { ...made.metadata, name: `g${i}`, uid: `uid-g${i}` } };
    });
    const about = wanted('ann', { releaseAuthors: [authors('1.1.0', text(0.12, 'é '))] });
    const spec = { ...about.spec, gates: gates.map(({ metadata }) => ({ name: metadata.name })) };
    return required({ ...about, spec }, gates);
  },
  'a Gate with 64 of the longest approvals: sync': () => synced('gate', approvable(longest)),
  'a RolloutGate with 64 of the longest approvals: sync': () =>
    synced('rolloutgate', rolloutGate(0, longest), [wanted(text(250, 'a.b '))]),
  'a forged record of 250 kB on a Gate': () =>
    written('gate', approvable(given(3000)), approvable(longest.slice(0, 100_000))),
  'a forged record of 250 kB on a RolloutGate': () => ({
    paths: ['/admission/mutate/rolloutgate'],
    body: review(rolloutGate(0, given(3000)), rolloutGate(0, longest)),
  }),
  'a forged record that is deeply nested': () =>
    written('gate', approvable(`{"given":${'['.repeat(120_000)}${']'.repeat(120_000)}}`), approvable(given(1))),
  'an approval of 250 kB': () => {
    const annotations = { 'approve.gate.fluxcd.io/for': text(120, 'a/b:'), 'approve.gate.fluxcd.io/reason': text(120) };
    return written('gate', approvable('', annotations), approvable(''));
  },
  'an approval that 5,000 Rollouts may be meant by': () => {
    const gates = times(10, (j) => ({ name: j === 9 ? 'web' : `g${j}` }));
    const status = { availableReleases: times(10, (j) => ({ tag: `1.${j}.0` })) };
    const stored = times(5000, (i) => rollout({ metadata: { name: `r${i}`, uid: `u${i}` }, spec: { gates }, status }));
    const asked = approvable('', { 'approve.gate.fluxcd.io/for': '1.1.0' });
    return { paths: ['/admission/mutate/gate'], body: review(asked, approvable('')), stored };
  },
};
