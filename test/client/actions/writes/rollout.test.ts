import { describe, expect, it } from 'vitest';
import type { Rollout, RolloutStatus } from '../../../../api/types.ts';
import { isRequest, kubectlOf, type PlannedWrite } from '../../../../client/actions/writes/plannedWrite.ts';
import {
  bypass,
  bypassRolloutGates,
  bypassWaiting,
  deploy,
  pin,
  retry,
  unblock,
  unpin,
  unrequire,
  withdrawRequest,
} from '../../../../client/actions/writes/rolloutWrites.ts';
import { objectOf } from '../../../support/objects.ts';
import { pinnedBy, requestedBy } from '../../../support/requestRecords.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');

const entry = (id: number, tag: string, bakeStatus = 'Succeeded') => ({
  id,
  version: { tag },
  bakeStatus: bakeStatus as 'Succeeded',
  timestamp: '2026-11-20T10:00:00Z',
});

const STATUS: Partial<RolloutStatus> = {
  availableReleases: ['1.3.0', '1.4.0', '1.5.0', '1.5.1'].map((tag) => ({ tag })),
  history: [entry(3, '1.5.0'), entry(2, '1.4.0', 'Failed'), entry(1, '1.3.0')],
};

const deployedAndPublished = (deployed: string, published: string): Partial<RolloutStatus> => ({
  availableReleases: [{ tag: '1.5.0', digest: published }],
  history: [{ ...entry(3, '1.5.0'), version: { tag: '1.5.0', digest: deployed } }],
});

function rollout({
  spec = {},
  status = {},
  annotations,
}: {
  spec?: object;
  status?: Partial<RolloutStatus>;
  annotations?: Record<string, string>;
} = {}): Rollout {
  return objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'checkout', ...(annotations && { annotations }) },
    spec: { releasesImagePolicy: { name: 'checkout' }, ...spec },
    status: { ...STATUS, ...status } as RolloutStatus,
  });
}

const said = (planned: PlannedWrite) =>
  isRequest(planned) ? kubectlOf(planned) : `${planned.isWrong ? 'wrong: ' : ''}${planned.none}`;
const concerns = (planned: PlannedWrite) => (isRequest(planned) ? planned.concerns : []);

const failed = { history: [entry(4, '1.5.1', 'Failed'), ...STATUS.history!] };

describe('the equivalent kubectl command', () => {
  const PREFIX = 'kubectl -n shop annotate --overwrite rollout.kuberik.com/checkout ';
  it.each<[string, PlannedWrite, string]>([
    [
      'deploy',
      deploy(rollout(), '1.5.1', 'INC-7'),
      `${PREFIX}rollout.kuberik.com/force-deploy=1.5.1 rollout.kuberik.com/deploy-message=INC-7`,
    ],
    [
      'deploy without a reason, where somebody left one',
      deploy(rollout({ annotations: { 'rollout.kuberik.com/deploy-message': 'old' } }), '1.5.1', undefined),
      `${PREFIX}rollout.kuberik.com/force-deploy=1.5.1 rollout.kuberik.com/deploy-message-`,
    ],
    [
      'pin',
      pin(rollout(), '1.4.0', undefined),
      `kubectl -n shop patch rollout.kuberik.com/checkout --type=merge -p '{"spec":{"wantedVersion":"1.4.0"}}'`,
    ],
    [
      'unpin',
      unpin(rollout({ spec: { wantedVersion: '1.4.0' } }), "it's over"),
      `kubectl -n shop patch rollout.kuberik.com/checkout --type=merge -p '{"metadata":{"annotations":{"rollout.kuberik.com/reason":"it'\\''s over"}},"spec":{"wantedVersion":null}}'`,
    ],
    ['retry', retry(rollout({ status: failed }), undefined), `${PREFIX}rollout.kuberik.com/retry=1.5.1`],
    ['unblock', unblock(rollout({ status: failed }), undefined), `${PREFIX}rollout.kuberik.com/unblock-failed=true`],
    [
      'bypass',
      bypass(rollout(), '1.5.1', 'INC-42, the fix', NOW),
      `${PREFIX}rollout.kuberik.com/force-deploy=1.5.1 gate.fluxcd.io/bypass-for=1.5.1 gate.fluxcd.io/bypass-reason='INC-42, the fix' rollout.kuberik.com/deploy-message='INC-42, the fix'`,
    ],
    [
      'past RolloutGates',
      bypassRolloutGates(rollout(), '1.5.1', undefined),
      `${PREFIX}rollout.kuberik.com/bypass-gates=1.5.1`,
    ],
  ])('%s', (_, planned, kubectl) => {
    expect(said(planned)).toBe(kubectl);
  });
});

describe('a bypass', () => {
  it('on a pinned Rollout is for the pin', () => {
    const planned = bypass(rollout({ spec: { wantedVersion: '1.4.0' } }), '1.5.1', 'INC-42', NOW);
    expect(isRequest(planned) && planned.body.spec).toEqual({ wantedVersion: '1.5.1' });
    expect(said(planned)).not.toContain('force-deploy');
  });

  it('has a new reason, which a bypass needs', () => {
    const again = bypass(
      rollout({ annotations: { 'gate.fluxcd.io/bypass-reason': 'INC-42' } }),
      '1.5.1',
      'INC-42',
      NOW,
    );
    expect(said(again)).toContain("bypass-reason='INC-42 (2026-11-25T10:00:00Z)'");
  });

  it('of a deployment that was rolling out at the closing needs no second deployment', () => {
    const planned = said(bypass(rollout(), '1.5.0', 'INC-42', NOW));
    expect(planned).toContain('gate.fluxcd.io/bypass-for=1.5.0');
    expect(planned).not.toContain('force-deploy');
  });

  const arrived = [{ ...entry(3, '1.5.0'), appliedTime: '2026-11-25T09:00:00Z' }];

  it.each([
    ['waits, which has to be named', { pendingVersion: '1.5.1' }, '1.5.1 is waiting: name it.'],
    ['does not', {}, 'no other version is waiting.'],
  ])(
    'of the version that runs is refused: the bypass would be for another version. Where one %s',
    (_, status, waits) => {
      const planned = bypass(rollout({ status: { history: arrived, ...status } }), '1.5.0', 'INC-42', NOW);
      expect(said(planned)).toBe(`wrong: Rollout shop/checkout already runs 1.5.0; ${waits}`);
    },
  );

  it('without a version is for the deployment that a Gate holds, if another one waits for its bake', () => {
    const held = { ...entry(3, '1.5.0'), bakeStatus: 'Deploying', waitingSince: '2026-11-25T09:00:00Z' };
    const blockers = [{ type: 'Bake', effect: 'Waits', reason: 'BakeInProgress', version: '1.5.1' }] as const;
    const status = { history: [held], pendingVersion: '1.5.1' };
    expect(said(bypassWaiting(rollout({ status: { ...status, blockers } as never }), 'INC-42', NOW))).toContain(
      'bypass-for=1.5.0',
    );
    expect(said(bypassWaiting(rollout({ status: status as never }), 'INC-42', NOW))).toContain('bypass-for=1.5.1');
  });

  it('without a version is for the pending one, unless a user requested it', () => {
    const pending = { history: arrived, pendingVersion: '1.5.1' };
    expect(said(bypassWaiting(rollout({ status: pending }), 'INC-42', NOW))).toContain('bypass-for=1.5.1');
    const annotations = pinnedBy('developer', '1.5.1');
    const theirs = rollout({ status: pending, spec: { wantedVersion: '1.5.1' }, annotations });
    expect(said(bypassWaiting(theirs, 'INC-42', NOW))).toMatch(
      /^wrong: developer requested 1\.5\.1, .*\n {2}kubectl rollouts bypass checkout 1\.5\.1 -n shop --reason "<why>"$/s,
    );
    expect(said(bypass(theirs, '1.5.1', 'INC-42', NOW))).toContain('"gate.fluxcd.io/bypass-for":"1.5.1"');
    expect(said(bypassWaiting(rollout({ status: { history: arrived } }), 'INC-42', NOW))).toMatch(/^wrong: No version/);
  });
});

it.each<[spec: object, deployed: string, published: string, expected: string[]]>([
  [
    {},
    'sha256:a',
    'sha256:b',
    ['The retry would fail: the tag 1.5.0 has been moved to another image since it was deployed'],
  ],
  [{}, 'sha256:a', 'sha256:a', []],
  [{ targetRepository: { url: 'oci://registry.example/prod' } }, 'sha256:a', 'sha256:b', []],
])(
  'a retry with the spec %j of %s, whose tag now is %s, has to be confirmed: %j',
  (spec, deployed, published, expected) => {
    const { availableReleases, history } = deployedAndPublished(deployed, published);
    const status = { availableReleases, history: history!.map((head) => ({ ...head, bakeStatus: 'Failed' as const })) };
    expect(concerns(retry(rollout({ spec, status }), undefined))).toEqual(expected);
  },
);

describe('nothing is planned for that makes no sense', () => {
  it.each<[string, PlannedWrite, RegExp]>([
    [
      'deploying beside a pin',
      deploy(rollout({ spec: { wantedVersion: '1.4.0' } }), '1.5.1', undefined),
      /^wrong: .* is pinned to 1\.4\.0/,
    ],
    [
      'deploying what runs',
      deploy(rollout(), '1.5.0', undefined),
      /^Rollout shop\/checkout has deployed 1\.5\.0 already\.$/,
    ],
    [
      'deploying the image that runs',
      deploy(rollout({ status: deployedAndPublished('sha256:aa', 'sha256:aa') }), '1.5.0', undefined),
      /already\.$/,
    ],
    [
      'deploying the image to which the tag of what runs was moved',
      deploy(rollout({ status: deployedAndPublished('sha256:aa', 'sha256:bb') }), '1.5.0', undefined),
      /already.*was moved.*under a new tag/,
    ],
    ['a pin that is there', pin(rollout({ spec: { wantedVersion: '1.4.0' } }), '1.4.0', undefined), /already\.$/],
    ['removing a pin that is not there', unpin(rollout(), undefined), /is not pinned\.$/],
    [
      'trying again what has not failed',
      retry(rollout(), undefined),
      /^wrong: .*1\.5\.0 has succeeded, so there is nothing to retry/,
    ],
    [
      'trying again what was rolled back',
      retry(rollout({ status: { history: [{ ...entry(5, '1.3.0'), rolledBackFrom: '1.5.1' }] } }), undefined),
      /nothing to retry\. 1\.5\.1 was rolled back: deploy it to try it again\.$/,
    ],
    [
      'retrying another one than was seen',
      retry(rollout({ status: failed }), undefined, '1.4.0'),
      /^wrong: .*Nothing was changed\.$/,
    ],
    [
      'unblocking after another one',
      unblock(rollout({ status: failed }), undefined, '1.4.0'),
      /^wrong: .*Nothing was changed\.$/,
    ],
    [
      'withdrawing another one',
      withdrawRequest(rollout({ annotations: { 'rollout.kuberik.com/force-deploy': '9.9.9' } }), undefined, '1.4.0'),
      /^wrong: .*Nothing was changed\.$/,
    ],
    ['unblocking what blocks nothing', unblock(rollout(), undefined), /^wrong: .*blocks nothing/],
  ])('%s', (_, planned, sentence) => {
    expect(said(planned)).toMatch(sentence);
  });
});

describe('actions that need confirmation', () => {
  it.each<[string, PlannedWrite, RegExp]>([
    [
      'an unknown version',
      deploy(rollout(), '1.5.l', undefined),
      /^Rollout shop\/checkout has no release 1\.5\.l \(it has 1\.5\.1, 1\.5\.0/,
    ],
    [
      'a rejected version',
      pin(rollout({ status: { rejectedReleases: [{ tag: '1.5.1', gate: 'qa', timestamp: '' }] } }), '1.5.1', undefined),
      /^RolloutGate qa rejects 1\.5\.1/,
    ],
    [
      'going back past what cannot be undone',
      pin(rollout({ status: { rollbackBarriers: ['1.5.0'] } }), '1.3.0', undefined),
      /^1\.5\.0 cannot be undone/,
    ],
    [
      'going back past spec.rollback.barrier',
      pin(rollout({ spec: { rollback: { barrier: '1.4.0' } } }), '1.3.0', undefined),
      /^1\.4\.0 cannot be undone/,
    ],
    [
      'removing a pin that something newer waits behind',
      unpin(
        rollout({ spec: { wantedVersion: '1.4.0' }, status: { gatedReleaseCandidates: [{ tag: '1.5.1' }] } }),
        undefined,
      ),
      /^1\.5\.1 is deployed next/,
    ],
    ['a bypass', bypass(rollout(), '1.5.1', 'INC-42', NOW), /bypasses every closed Gate/],
  ])('%s', (_, planned, sentence) => {
    expect(concerns(planned).join('\n')).toMatch(sentence);
  });

  it('nothing else', () => {
    expect(concerns(deploy(rollout(), '1.5.1', undefined))).toEqual([]);
    expect(concerns(pin(rollout(), '1.4.0', undefined))).toEqual([]);
  });
});

describe('a request that is withdrawn', () => {
  const FORCE = { 'rollout.kuberik.com/force-deploy': '9.9.9', 'rollout.kuberik.com/deploy-message': 'typo' };

  it('includes the message of the request, and the reason of a bypass', () => {
    const bypassed = { ...FORCE, 'gate.fluxcd.io/bypass-for': '9.9.9', 'gate.fluxcd.io/bypass-reason': 'INC-7' };
    expect(said(withdrawRequest(rollout({ annotations: bypassed }), undefined))).toBe(
      'kubectl -n shop annotate --overwrite rollout.kuberik.com/checkout rollout.kuberik.com/force-deploy- rollout.kuberik.com/deploy-message- ' +
        'gate.fluxcd.io/bypass-for- gate.fluxcd.io/bypass-reason-',
    );
  });

  it('ignores a completed rollback, and advises about a pin', () => {
    expect(said(withdrawRequest(rollout(), undefined))).toMatch(/has no pending request for a version/);
    const done = { ...requestedBy({ 'force-deploy': 'sre' }, { id: 'u' }), ...FORCE };
    const handled = { handledRequest: { 'force-deploy': 'u' } };
    expect(said(withdrawRequest(rollout({ annotations: done, status: handled }), undefined))).toMatch(
      /no pending request/,
    );
    expect(said(withdrawRequest(rollout({ spec: { wantedVersion: '1.4.0' } }), undefined))).toContain('unpin');
  });
});

describe('a Gate that is no longer required', () => {
  const named = (gates: object[], seen: boolean) => {
    const made = rollout({
      spec: { gates },
      status: { observedGeneration: 3, namedGates: [{ gate: 'shop/typo', seen }] },
    });
    return { ...made, metadata: { ...made.metadata, generation: 3 } };
  };
  const typo = { namespace: 'shop', name: 'typo' };

  it.each([
    [[{ name: 'typo' }, { name: 'freeze', namespace: 'ops' }], { gates: [{ name: 'freeze', namespace: 'ops' }] }],
    [[{ name: 'typo', namespace: 'shop' }], { gates: null }],
  ])('leaves the others: %j', (gates, spec) => {
    expect(unrequire(named(gates, false), typo, 'a typo', NOW)).toMatchObject({ body: { spec } });
  });

  it('takes a bypass where it has existed', () => {
    expect(unrequire(named([{ name: 'typo' }], false), typo, 'a typo', NOW)).toMatchObject({
      body: {
        metadata: { annotations: { 'kubernetes.io/change-cause': 'remove Gate shop/typo from spec.gates: a typo' } },
      },
    });
    expect(unrequire(named([{ name: 'typo' }], true), typo, 'gone', NOW)).toMatchObject({
      body: { metadata: { annotations: { 'gate.fluxcd.io/bypass-reason': 'gone' } }, spec: { gates: null } },
    });
    expect(unrequire(named([{ name: 'typo' }], true), typo, undefined, NOW)).toMatchObject({ isWrong: true });
  });

  it('is removed from the list that was read, and from no other', () => {
    const of = named([{ name: 'freeze' }, { name: 'typo' }, { name: 'typo', namespace: 'shop' }], true);
    const annotations = { 'gate.fluxcd.io/bypass-reason': 'gone' };
    const read = { ...of, metadata: { ...of.metadata, resourceVersion: '7', annotations } };
    const planned = unrequire(read, typo, 'gone', NOW);
    const fresh = 'gone (2026-11-25T10:00:00Z)';
    expect(planned).toMatchObject({
      body: {
        metadata: { resourceVersion: '7', annotations: { 'gate.fluxcd.io/bypass-reason': fresh } },
        spec: { gates: [{ name: 'freeze' }] },
      },
    });
    const operations = [
      { op: 'add', path: '/metadata/annotations/gate.fluxcd.io~1bypass-reason', value: fresh },
      { op: 'test', path: '/spec/gates/1', value: { name: 'typo' } },
      { op: 'test', path: '/spec/gates/2', value: { name: 'typo', namespace: 'shop' } },
      { op: 'remove', path: '/spec/gates/2' },
      { op: 'remove', path: '/spec/gates/1' },
    ];
    expect(said(planned)).toBe(
      `kubectl -n shop patch rollout.kuberik.com/checkout --type=json -p '${JSON.stringify(operations)}'`,
    );
  });
});
