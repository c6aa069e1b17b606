/** Writes of `spec.after`: refused ones, and ones with a Warning. */
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../api/ports.ts';
import type { Rollout, RolloutSpec } from '../../../api/types.ts';
import { validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { rollout } from '../../hooks/rollout/call.ts';
import { admitted } from './call.ts';

type After = RolloutSpec['after'];

const named = (name: string, after: After = []) => rollout({ after }, undefined, name);
const elsewhere = (object: Rollout, annotations: Record<string, string> = {}) =>
  ({ ...object, metadata: { ...object.metadata, namespace: 'team-b', annotations } }) as Rollout;

const decided = (object: Rollout, objects: Rollout[], old?: Rollout, settings?: Partial<Settings>) =>
  admitted(validateRollout, { object, old }, { objects, settings });

describe('spec.after', () => {
  it.each<[string, After, Rollout[], string]>([
    ['itself', [{ name: 'app' }], [], 'spec.after names the Rollout itself'],
    [
      'one that is after it',
      [{ name: 'b' }],
      [named('b', [{ name: 'c' }]), named('c', [{ name: 'app' }])],
      "spec.after has a dependency cycle: 'app' after 'b' after 'c' after 'app'",
    ],
  ])('that names %s is refused, with the path', async (_title, after, objects, path) => {
    const { allowed, message } = await decided(named('app', after), objects, named('app'));
    expect(allowed).toBe(false);
    expect(message).toBe(`Rollout 'team-a/app' is not valid: ${path}: no version would ever be deployed automatically`);
  });

  it('that got in once does not keep the rest of the Rollout from being changed, and is not read again', async () => {
    const before = named('app', [{ name: 'app' }]);
    const { allowed, reads } = await decided({ ...before, spec: { ...before.spec!, bakeTime: '5m' } }, [], before);
    expect(allowed).toBe(true);
    expect(reads).toEqual([]);
  });

  describe('with match revision, which any user who pushes an image writes', () => {
    const withMatch = (match: 'digest' | 'revision', spec: Partial<RolloutSpec> = {}) =>
      rollout({ ...spec, after: [{ name: 'qa' }, { name: 'staging', match }] }, undefined, 'app');
    const known = [named('qa'), named('staging')];

    it('is refused, with the action to take', async () => {
      expect(await decided(withMatch('revision'), known, withMatch('digest'))).toMatchObject({
        allowed: false,
        message:
          'Rollout \'team-a/app\' is not valid: spec.after[1].match: "revision" is not allowed, because every user who pushes an image can write a revision: use match: digest, or set TRUST_PUBLISHERS=true if only your pipeline pushes',
      });
      expect(await decided(withMatch('digest'), known)).toMatchObject({ allowed: true, warnings: [] });
    });

    it('is allowed where publishers are trusted', async () => {
      const settings = { trustPublishers: true };
      expect(await decided(withMatch('revision'), known, undefined, settings)).toMatchObject({
        allowed: true,
        warnings: [],
      });
    });
  });

  it('with a missing Rollout is allowed, with a Warning', async () => {
    const { allowed, warnings } = await decided(named('app', [{ name: 'staging' }]), []);
    expect(allowed).toBe(true);
    expect(warnings).toEqual(["spec.after: Rollout 'staging' does not exist: every version waits until that changes"]);
  });

  it.each([
    ['does not exist', undefined, undefined, true],
    ['does not consent', {}, undefined, true],
    ['consents to another', { 'healthcheck.kuberik.com/watched-from': 'team-c' }, undefined, true],
    ['consents', { 'healthcheck.kuberik.com/watched-from': 'team-a' }, undefined, false],
    ['need not be asked', {}, { watchWithoutConsent: true }, false],
  ])(
    'of another namespace that %s: who may not see it learns no more than that',
    async (_title, annotations, settings, warns) => {
      const objects = annotations ? [elsewhere(named('staging'), annotations)] : [];
      const { warnings } = await decided(
        named('app', [{ name: 'staging', namespace: 'team-b' }]),
        objects,
        undefined,
        settings,
      );
      const warning =
        "spec.after: Rollout 'team-b/staging' does not exist or has not consented: every version waits until that changes";
      expect(warnings).toEqual(warns ? [warning] : []);
    },
  );

  it('of another namespace is refused if such references are forbidden', async () => {
    const { message } = await decided(named('app', [{ name: 'staging', namespace: 'team-b' }]), [], undefined, {
      noCrossNamespaceRefs: true,
    });
    expect(message).toContain(
      'spec.after[0].namespace: references to another namespace ("team-b") are forbidden (NO_CROSS_NAMESPACE_REFS)',
    );
  });

  it('in a diamond and a chain of ten is read once for each Rollout', async () => {
    const chain = Array.from({ length: 10 }, (_, i) => named(`s${i}`, i < 9 ? [{ name: `s${i + 1}` }] : []));
    const { allowed, reads } = await decided(named('app', [{ name: 's0' }, { name: 's5' }]), chain);
    expect(allowed).toBe(true);
    expect(reads.sort()).toEqual(chain.map(({ metadata }) => `rollouts/${metadata.name}`).sort());
  });
});
