import { describe, expect, it } from 'vitest';
import type { ImagePolicy } from '../../../../api/flux.ts';
import type { HistoryEntry, Rollout, RolloutStatus } from '../../../../api/types.ts';
import {
  isRequest,
  kubectlOf,
  type PlannedWrite,
  type WriteRequest,
} from '../../../../client/actions/writes/plannedWrite.ts';
import { type RollbackRequest, rollback } from '../../../../client/actions/writes/rollbackWrite.ts';
import { deploy, pin } from '../../../../client/actions/writes/rolloutWrites.ts';
import { objectOf } from '../../../support/objects.ts';

/** Newest first: `1.1.0` succeeded, `1.1.0!` failed, `1.0.0<1.1.0` is an automatic rollback. */
function history(...texts: string[]): HistoryEntry[] {
  return texts.map((text, index) => {
    const [, tag = '', failed, from] = /^([^!<]+)(!?)(?:<(.+))?$/.exec(text)!;
    return {
      id: texts.length - index,
      version: { tag },
      timestamp: '2026-11-20T10:00:00Z',
      bakeStatus: failed ? 'Failed' : 'Succeeded',
      ...(from && { rolledBackFrom: from }),
    };
  });
}

function rollout(texts: string[], status: Partial<RolloutStatus> = {}, spec: object = {}): Rollout {
  return objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'checkout', resourceVersion: '7' },
    spec: { releasesImagePolicy: { name: 'checkout' }, ...spec },
    status: { history: history(...texts), ...status } as RolloutStatus,
  });
}

const POLICIES: Record<string, any> = {
  semver: { spec: { policy: { semver: { range: '>=0.0.0' } } } },
  numerical: { spec: { policy: { numerical: { order: 'asc' } } } },
  descending: { spec: { policy: { alphabetical: { order: 'desc' } } } },
};

const back = (of: Rollout, wanted: Partial<RollbackRequest> = {}, policy: ImagePolicy | undefined = POLICIES.semver) =>
  rollback(of, policy, { stays: true, ...wanted });
const said = (planned: PlannedWrite) =>
  isRequest(planned) ? kubectlOf(planned) : `${planned.isWrong ? 'wrong: ' : ''}${planned.none}`;

function target(planned: PlannedWrite): string {
  return isRequest(planned) ? String(planned.body.spec?.wantedVersion) : said(planned);
}

describe('a rollback', () => {
  it('is a manual deployment if the user doesn’t want to stay', () => {
    expect(said(back(rollout(['1.5.0', '1.3.0']), { stays: false }))).toContain('force-deploy=1.3.0');
  });

  it('to a version that is no longer available waits, unless it stays there', () => {
    const of = rollout(['1.5.0', '1.3.0'], { availableReleases: [{ tag: '1.5.0' }] });
    const concerns = (stays: boolean) => (back(of, { stays }) as WriteRequest).concerns.slice(1);
    expect(concerns(true)).toEqual([]);
    expect(concerns(false)).toEqual([
      '1.3.0 ran before, but is no longer an available release: the request waits until it is available again. To deploy it now, pin it',
    ]);
  });

  it('names the version that it left if the user gives no reason', () => {
    expect(said(back(rollout(['1.5.0', '1.4.0'])))).toContain('"Back from 1.5.0"');
  });

  it('names both versions, before and after it is planned', () => {
    const planned = back(rollout(['1.5.0', '1.4.0']));
    expect(planned).toMatchObject({ text: expect.stringContaining('from 1.5.0 to 1.4.0') });
    expect(isRequest(planned) && planned.concerns).toEqual(['It rolls Rollout shop/checkout back from 1.5.0 to 1.4.0']);
  });

  it('names changes that can’t be undone', () => {
    const planned = back(rollout(['1.5.0', '1.4.0'], { rollbackBarriers: ['1.5.0'] }));
    expect(isRequest(planned) && planned.concerns).toHaveLength(2);
  });

  it.each<[string, string, (from: HistoryEntry) => HistoryEntry, Partial<RolloutStatus>]>([
    [
      'that was deployed from another image',
      '1.4.0 was deployed from registry.example/old, and the ImagePolicy now selects from registry.example/new',
      (entry) => ({ ...entry, image: 'registry.example/old' }),
      { image: 'registry.example/new' },
    ],
    [
      'whose tag was moved since',
      'the tag 1.4.0 has been moved to another image since it was deployed',
      (entry) => ({ ...entry, version: { tag: '1.4.0', digest: 'sha256:a' } }),
      { availableReleases: [{ tag: '1.4.0', digest: 'sha256:b' }, { tag: '1.5.0' }] },
    ],
  ])('to a version %s says so', (_, text, deployed, status) => {
    const [head, before] = history('1.5.0', '1.4.0');
    const of = rollout([], { ...status, history: [head!, deployed(before!)] });
    const planned = back(of) as WriteRequest;
    const concern = `It may deploy another image than before: ${text}`;
    expect(planned.concerns.slice(1)).toEqual([concern]);
    for (const write of [deploy, pin]) expect(write(of, '1.4.0', undefined)).toMatchObject({ concerns: [concern] });
    expect(pin(of, '1.5.0', undefined)).toMatchObject({ concerns: [] });
    expect((back(rollout([], { ...status, history: [head!, before!] })) as WriteRequest).concerns).toHaveLength(1);
  });

  it('is for the deployment that was read', () => {
    expect(back(rollout(['1.5.0', '1.4.0']))).toMatchObject({
      body: { metadata: { resourceVersion: '7' } },
      basis: 'deployment 2 (1.5.0)',
    });
  });
});

describe('a rollback never goes', () => {
  it.each<[string, Rollout, string | RegExp, ImagePolicy?]>([
    ['forward again after a rollback', rollout(['1.0.0', '1.1.0', '1.0.0']), /^wrong: .*1\.1\.0 is newer than 1\.0\.0/],
    ['forward where the first deployment is no longer kept', rollout(['1.0.0', '1.1.0']), /^wrong: .*is newer/],
    ['to a newer version that a hotfix of an older one followed', rollout(['1.9.1', '2.0.0', '1.9.0']), '1.9.0'],
    ['to what was rolled back from, but on to the one before', rollout(['1.1.0', '1.2.0', '1.1.0', '1.0.0']), '1.0.0'],
    ['to what a later version has replaced after a rollback', rollout(['1.2.0', '1.0.0', '1.1.0', '1.0.0']), '1.0.0'],
    [
      'to what was rolled back from automatically, where the history begins with that',
      rollout(['1.2.0', '1.0.0<1.1.0', '1.1.0']),
      '1.0.0',
    ],
    ['to a version whose last deployment failed', rollout(['1.2.0', '1.1.0!', '1.1.0', '1.0.0']), '1.0.0'],
    ['to a build with a higher number', rollout(['9', '10', '8']), '8', POLICIES.numerical],
    ['forward in a descending order', rollout(['b', 'a', 'c']), 'c', POLICIES.descending],
    [
      'to what was rolled back from, where nothing is ranked',
      rollout(['one', 'two', 'one']),
      /^wrong: .*was replaced by an older version/,
    ],
  ])('%s', (_, of, expected, policy = POLICIES.semver) => {
    const found = target(back(of, {}, policy));
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });

  it('to a version discovered later, if the policy is unknown and tags are no versions', () => {
    const of = rollout(['one', 'two', 'zero'], { availableReleases: ['zero', 'one', 'two'].map((tag) => ({ tag })) });
    expect(target(rollback(of, undefined, { stays: true }))).toBe('zero');
  });

  it.each([
    [
      'to a newer version that is named',
      '1.2.0',
      /1\.2\.0 is newer than 1\.1\.0.*\n {2}kubectl rollouts pin \S+ 1\.2\.0 -n /s,
    ],
    ['to what runs', '1.1.0', /it is the newest deployment/],
    ['to a named one that was rolled back from', '1.0.5', /1\.0\.5 was replaced by an older version/],
  ])('%s', (_, version, sentence) => {
    expect(said(back(rollout(['1.1.0', '1.0.0', '1.0.5', '1.0.0']), { version }))).toMatch(/^wrong: /);
    expect(said(back(rollout(['1.1.0', '1.0.0', '1.0.5', '1.0.0']), { version }))).toMatch(sentence);
  });
});

it('a rolled back version that was deployed again counts as any other', () => {
  expect(target(back(rollout(['1.2.0', '1.1.0', '1.0.0', '1.1.0', '1.0.0'])))).toBe('1.1.0');
});

it('a named version that never ran here is gone back to', () => {
  expect(target(back(rollout(['1.1.0', '1.0.0']), { version: '1.0.3' }))).toBe('1.0.3');
});

it.each<[string, Rollout, RegExp | string]>([
  ['without a history', rollout([]), /^wrong: .*nothing to go back to/],
  [
    'where nothing before has succeeded',
    rollout(['1.5.0', '1.4.0!']),
    /^wrong: .*1\.4\.0 has not succeeded.*name the version/,
  ],
  [
    'where nothing ran before',
    rollout(['1.5.0']),
    'wrong: Rollout shop/checkout has deployed nothing before 1.5.0: there is nothing to go back to.',
  ],
  [
    'where nothing ran before, with other releases',
    rollout(['1.5.0'], { availableReleases: ['1.3.0', '1.4.0', '1.5.0', '1.6.0'].map((tag) => ({ tag })) }),
    'wrong: Rollout shop/checkout has deployed nothing before 1.5.0: name the version to go back to (1.4.0, 1.3.0).',
  ],
])('needs the version, %s', (_, of, sentence) => {
  expect(said(back(of))).toMatch(sentence);
});
