import { describe, expect, it } from 'vitest';
import { REQUEST } from '../../../api/annotations.ts';
import type { AnyObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { validateHealthCheck } from '../../../webhooks/otherKinds.ts';
import { mutateRollout, validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { NOW, object, rollout } from '../../hooks/rollout/call.ts';
import { kubeObject, namespaceOf } from '../../support/objects.ts';
import { admitted, annotated, P, stored, type Write } from './call.ts';

const AT = formatTime(NOW);

describe('mutate/rollout', () => {
  const BY_ALICE = { by: 'alice', at: AT };

  it('records user, time and admission request of a new request', async () => {
    expect(await stored({ object: annotated({ [`${P}retry`]: '' }), old: rollout({}) })).toEqual({
      [`${P}retry`]: '',
      [REQUEST]: JSON.stringify({ retry: { id: 'req-1', ...BY_ALICE } }),
    });
  });

  it('keeps the record of an unchanged request, and drops that of a removed one', async () => {
    const [forced, retried] = ['a', 'b'].map((id) => ({ id, by: 'alice', at: '2026-01-01T00:00:00Z' }));
    const old = annotated({
      [`${P}retry`]: '',
      [`${P}force-deploy`]: '1.0.0',
      [REQUEST]: JSON.stringify({ 'force-deploy': forced, retry: retried }),
    });
    const next = annotated({ [`${P}force-deploy`]: '1.0.0' });
    expect(await stored({ object: next, old, user: 'metacontroller', uid: 'req-2' })).toEqual({
      [`${P}force-deploy`]: '1.0.0',
      [REQUEST]: JSON.stringify({ 'force-deploy': forced }),
    });
    const other = annotated({ ...old.metadata.annotations, [`${P}force-deploy`]: '2.0.0' });
    expect(await stored({ object: other, old, user: 'bob', uid: 'req-3' })).toMatchObject({
      [REQUEST]: JSON.stringify({ 'force-deploy': { id: 'req-3', by: 'bob', at: AT }, retry: retried }),
    });
  });

  it('accepts no record from a user', async () => {
    const forged = { [REQUEST]: JSON.stringify({ retry: { id: 'forged', by: 'root', at: AT } }) };
    const next = annotated({ ...forged, [`${P}retry`]: '' });
    expect(await stored({ object: next, user: 'mallory' })).toMatchObject({
      [REQUEST]: JSON.stringify({ retry: { id: 'req-1', by: 'mallory', at: AT } }),
    });
    expect(await stored({ object: annotated(forged), old: rollout({}) })).toBeUndefined();
  });

  it('changes nothing in a second call', async () => {
    const ask = (object: Rollout) => admitted(mutateRollout, { object, old: rollout({}) });
    const { object } = await ask(annotated({ [`${P}retry`]: '' }));
    expect(await ask(object!)).toMatchObject({ allowed: true, warnings: [], object });
  });

  it.each<[string, Partial<RolloutSpec>, unknown]>([
    ['nothing where it may select any', { healthCheckSelector: { selector: {} } }, undefined],
    ['that it has no selector', {}, 'none'],
  ])('labels it with what HealthChecks find it by: %s', async (_, spec, expected) => {
    const { object: written } = await admitted(mutateRollout, { object: rollout(spec) });
    const wanted = expected instanceof RegExp ? expect.stringMatching(expected) : expected;
    expect(written!.metadata.labels?.[`${P}watches`]).toEqual(wanted);
  });
});

describe('validate/rollout', () => {
  const decide = async (request: Write, objects: AnyObject[] = [], may = false) => {
    const result = await admitted(validateRollout, request, { objects, may: may ? ['alice bypass'] : [] });
    return { result, events: result.events };
  };
  const status = { availableReleases: [{ tag: '1.0.0' }], releaseCandidates: [{ tag: '1.0.0' }] };

  it.each<[string, Partial<RolloutSpec>, string]>([
    ['a duration', { bakeTime: 'soon' }, 'spec.bakeTime: "soon" is not a duration'],
    [
      'a label value',
      { healthCheckSelector: { matchLabels: { app: 'a'.repeat(64) } } },
      'spec.healthCheckSelector.selector.matchLabels',
    ],
    [
      'a namespace selector',
      { healthCheckSelector: { namespaceSelector: { matchLabels: { 'a b': 'c' } } } },
      'namespaceSelector',
    ],
  ])('denies %s that cannot be understood, with field and reason', async (_title, spec, message) => {
    const { result } = await decide({ object: rollout(spec) });
    expect(result).toMatchObject({ allowed: false, message: expect.stringContaining(message) });
    // It doesn't block a write that fixes something else.
    expect(
      (await decide({ object: rollout({ ...spec, wantedVersion: '1.0.0' }), old: rollout(spec) })).result.allowed,
    ).toBe(true);
  });

  it.each(['force-deploy', 'bypass-gates'])(
    'refuses %s of what is no tag, and lets one stay that is there',
    async (key) => {
      const field = `metadata.annotations[${P}${key}]`;
      for (const value of [
        '1.1.0;$(touch /tmp/x)',
        '1.1.0\n\nAll gates are passing',
        '1.0.0+build',
        '\u001b[2J',
        'x'.repeat(129),
      ]) {
        const wrong = annotated({ [`${P}${key}`]: value }, {}, status);
        const { result } = await decide({ object: wrong, old: rollout({}, status) });
        expect(result, value).toMatchObject({
          allowed: false,
          message: expect.stringContaining(`${field}: Invalid value`),
        });
        expect(JSON.stringify(result)).not.toContain('\\n\\n');
        const later = annotated({ [`${P}${key}`]: value, seen: 'yes' }, {}, status);
        expect((await decide({ object: later, old: wrong })).result.allowed, value).toBe(true);
      }
      const nothing = annotated({ [`${P}${key}`]: '' }, {}, status);
      expect((await decide({ object: nothing, old: rollout({}, status) })).result.allowed).toBe(true);
    },
  );

  const version = (digest: string) => ({ tag: '1.0.0', digest });
  const moved = {
    history: [{ version: version('sha256:aa'), timestamp: '2026-01-01T00:00:00Z' }],
    availableReleases: [version('sha256:bb')],
  };

  it.each<[string, Write['object'], string]>([
    [
      'force-deploy of an unknown version',
      annotated({ [`${P}force-deploy`]: '9.9.9' }, {}, status),
      'force-deploy: version 9.9.9',
    ],
    [
      'bypass-gates of an unknown version',
      annotated({ [`${P}bypass-gates`]: '9.9.9' }, {}, status),
      'bypass-gates: version 9.9.9 is not a release candidate',
    ],
    [
      'bypass-gates of the deployed version',
      annotated({ [`${P}bypass-gates`]: '1.0.0' }, {}, moved),
      'bypass-gates: version 1.0.0 is deployed already',
    ],
    [
      'a force-deploy beside a pin',
      annotated(
        { [`${P}force-deploy`]: '1.0.0' },
        { wantedVersion: '0.9.0' },
        { ...status, availableReleases: [{ tag: '1.0.0' }, { tag: '0.9.0' }] },
      ),
      'force-deploy: version 1.0.0 waits while spec.wantedVersion is 0.9.0',
    ],
    [
      'a force-deploy of the deployed tag, which was moved',
      annotated({ [`${P}force-deploy`]: '1.0.0' }, {}, moved),
      'force-deploy: version 1.0.0 is deployed already, and its tag was moved',
    ],
    [
      'a pin that is not available',
      rollout({ wantedVersion: '1.22.0' }, status),
      'wantedVersion 1.22.0 is not an available release',
    ],
    [
      'a selector that matches no HealthCheck',
      rollout({ healthCheckSelector: { matchLabels: { app: 'app' } } }, status),
      'matches no HealthCheck',
    ],
    [
      'a bake without a selector',
      rollout({ bakeTime: '5m', healthCheckSelector: {} }, status),
      'spec.bakeTime without a selector in spec.healthCheckSelector',
    ],
  ])('warns of %s', async (_title, next, warning) => {
    const { result } = await decide({ object: next, old: rollout({}, status) });
    expect(result.warnings).toEqual([expect.stringContaining(warning)]);
    expect((await decide({ object: next, old: next })).result.warnings).toEqual([]);
  });

  describe('back to automatic', () => {
    const [newer, pinned] = [{ tag: '1.4.0' }, { tag: '1.3.0' }];
    const waiting = { ...status, releaseCandidates: [newer, pinned], gatedReleaseCandidates: [newer, pinned] };
    const shut = { ...waiting, gates: [{ name: 'qa', passing: false }] };
    const says = ['version 1.4.0 is deployed next. To skip it: pin again, reject 1.4.0, then unpin'];
    it.each([
      ['says what is deployed next', rollout({}, waiting), rollout({ wantedVersion: '1.2.0' }, waiting), says],
      ['to what was pinned anyway', rollout({}, waiting), rollout({ wantedVersion: '1.4.0' }, waiting), []],
      ['with nothing newer', rollout({}, status), rollout({ wantedVersion: '1.2.0' }, status), []],
      ['behind a RolloutGate', rollout({}, shut), rollout({ wantedVersion: '1.2.0' }, shut), []],
      ['from nowhere', rollout({}, waiting), rollout({}, waiting), []],
      [
        'by a force-deploy',
        annotated({ [`${P}force-deploy`]: '1.0.0' }, {}, waiting),
        rollout({ wantedVersion: '1.2.0' }, waiting),
        [],
      ],
    ])('%s', async (_title, next, old, warnings) => {
      expect((await decide({ object: next, old })).result.warnings).toEqual(warnings);
    });
  });

  describe('a force-deploy of an older version', () => {
    const entry = (tag: string) => ({ version: { tag }, timestamp: '2026-01-01T00:00:00Z' });
    const tags = (...list: string[]) => list.map((tag) => ({ tag }));
    const at13 = { history: [entry('1.3.0')], availableReleases: tags('1.2.0', '1.3.0', '1.4.0') };
    const waiting = { ...at13, releaseCandidates: tags('1.4.0'), gatedReleaseCandidates: tags('1.4.0') };
    const force = (tag: string, before: object, spec = {}) =>
      decide({ object: annotated({ [`${P}force-deploy`]: tag }, spec, before), old: rollout(spec, before) });
    const follows = (tag: string) => [
      `${tag} replaces 1.2.0 once nothing blocks it. To stay on 1.2.0, set spec.wantedVersion`,
    ];
    it.each<[string, string, object, string[]]>([
      ['says that the one it goes back from comes again', '1.2.0', at13, follows('1.3.0')],
      ['says that a newer one follows', '1.2.0', waiting, follows('1.4.0')],
      ['is not one of a candidate', '1.4.0', waiting, []],
      ['is not one of a version that is too young yet', '1.4.0', { ...at13, youngReleases: tags('1.4.0') }, []],
      [
        'that a RolloutGate rejects waits for that list',
        '1.4.0',
        { ...at13, rejectedReleases: [{ tag: '1.4.0', gate: 'qa', timestamp: '2026-01-01T00:00:00Z' }] },
        ["version 1.4.0 waits until it is removed from spec.rejectedVersions of RolloutGate 'qa'"],
      ],
      ['stays behind a RolloutGate', '1.2.0', { ...at13, gates: [{ name: 'qa', passing: false }] }, []],
    ])('%s', async (_title, tag, before, warnings) => {
      expect((await force(tag, before)).result.warnings).toEqual(warnings);
    });
  });

  it('has no warning for a known version', async () => {
    const next = annotated({ [`${P}force-deploy`]: '1.0.0', [`${P}bypass-gates`]: '1.0.0' }, {}, status);
    expect((await decide({ object: next, old: rollout({}, status) })).result).toMatchObject({
      allowed: true,
      warnings: [],
    });
  });

  const closed = object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', 'freeze', { default: 'closed' });
  const open = object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', 'freeze', { default: 'opened' });
  const gated = rollout({ gates: [{ name: 'freeze' }] });
  const namespace = namespaceOf('team-a');

  it('warns a user who requests a version that a closed Gate will hold', async () => {
    const old = rollout({ gates: [{ name: 'freeze' }] }, status);
    const asking = annotated({ [`${P}force-deploy`]: '1.0.0' }, { gates: [{ name: 'freeze' }] }, status);
    expect((await decide({ object: asking, old }, [closed])).result.warnings).toEqual([
      "version 1.0.0 waits: Gate 'team-a/freeze' is closed",
    ]);
    expect((await decide({ object: asking, old }, [open])).result.warnings).toEqual([]);
    const opened = { 'open.gate.fluxcd.io/requestedAt': AT, 'open.gate.fluxcd.io/for': 'team-a/app:1.0.0' };
    const exception = { ...closed, metadata: { ...closed.metadata, annotations: opened } };
    expect((await decide({ object: asking, old }, [exception])).result.warnings).toEqual([]);
  });

  it('denies a write that no longer requires a closed Gate, with the way to open it', async () => {
    const { result } = await decide({ object: rollout({ gates: [] }), old: gated }, [closed]);
    expect(result).toMatchObject({
      allowed: false,
      message: expect.stringMatching(
        /cannot stop requiring a closed Gate.*Gate 'team-a\/freeze' is closed \(Gate closed by default[\s\S]*To open Gate team-a\/freeze:\n {2}kubectl -n team-a annotate/,
      ),
    });
  });

  it('denies the deletion of a Rollout whose Gate is closed, except by controllers that clean up', async () => {
    const live = { objects: [closed, namespace] };
    const result = await admitted(validateRollout, { old: gated }, live);
    expect(result).toMatchObject({
      allowed: false,
      message: expect.stringMatching(
        /^Rollout 'team-a\/app' cannot be deleted while .* then delete within five minutes\. You need the verb/,
      ),
    });
    const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
    expect((await admitted(validateRollout, { old: gated, user: collector }, live)).allowed).toBe(true);
  });

  it('denies the deletion of a Rollout whose bound object requires a closed Gate, even without a FluxBinding', async () => {
    const object = kubeObject('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'team-a/app', {
      metadata: { annotations: { 'rollout.kuberik.com/substitute.APP.from': 'app', 'gate.fluxcd.io/gates': 'freeze' } },
    });
    const objects = [closed, object, namespace];
    expect(await admitted(validateRollout, { old: rollout({}) }, { objects })).toMatchObject({
      allowed: false,
      message: expect.stringContaining("Gate 'team-a/freeze' is closed"),
    });
  });

  it('denies an owner, which would have the garbage collector delete it; losing one is no way out', async () => {
    const owned = (uid: string) => ({
      ...gated,
      metadata: { ...gated.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] },
    });
    const { result } = await decide({ object: owned('1'), old: gated }, [closed]);
    expect(result).toMatchObject({
      allowed: false,
      message: expect.stringContaining('cannot get an owner reference while'),
    });
    expect((await decide({ object: owned('2'), old: owned('1') }, [closed])).result.allowed).toBe(false);
    expect((await decide({ object: gated, old: owned('1') }, [closed])).result.allowed).toBe(true);
    expect((await decide({ object: owned('1'), old: gated }, [open])).result.allowed).toBe(true);
  });

  it('denies to leave the objects to Git: they would take any version', async () => {
    const spec = { gates: [{ name: 'freeze' }] };
    const toGit = (imagePolicy: string) => rollout({ ...spec, writeBack: { imagePolicy } });
    const { result } = await decide({ object: toGit('a'), old: gated }, [closed]);
    expect(result).toMatchObject({
      allowed: false,
      message: expect.stringMatching(/cannot have spec\.writeBack added while .*Gate 'team-a\/freeze' is closed/),
    });
    expect((await decide({ object: toGit('a'), old: gated }, [open])).result.allowed).toBe(true);
    expect((await decide({ object: toGit('b'), old: toGit('a') }, [closed])).result.allowed).toBe(true);
    expect((await decide({ object: gated, old: toGit('a') }, [closed])).result.allowed).toBe(true);
    const other = rollout({ ...spec, writeBack: { imagePolicy: 'a' }, releasesImagePolicy: { name: 'other' } });
    const message = expect.stringContaining(
      'cannot have spec.releasesImagePolicy changed with spec.writeBack set while',
    );
    expect((await decide({ object: other, old: toGit('a') }, [closed])).result).toMatchObject({ message });
  });

  it('lets a user with the verb bypass delete it with a new reason, and records it', async () => {
    const reason = annotated({
      'gate.fluxcd.io/bypass-reason': 'outage 42',
      'gate.fluxcd.io/bypassed-by': '2026-03-01T12:00:00Z alice',
    });
    const { result, events } = await decide({ object: reason, old: gated }, [closed], true);
    expect(result).toMatchObject({ allowed: true, audit: { bypass: expect.stringContaining('outage 42') } });
    expect(events.map((event) => event.reason)).toEqual(['GateBypassed']);
    expect((await decide({ object: reason, old: gated }, [closed], false)).result.allowed).toBe(false);
  });
});

describe('references to other namespaces, where they are forbidden', () => {
  const validate = (object: Rollout, old?: Rollout) =>
    admitted(validateRollout, { object, old }, { settings: { noCrossNamespaceRefs: true } });
  const foreign = rollout({
    gates: [
      { name: 'own', namespace: 'team-a' },
      { name: 'theirs', namespace: 'ops' },
    ],
  });

  it.each<[string, Partial<RolloutSpec>]>([
    ['spec.releasesImagePolicy.namespace', { releasesImagePolicy: { name: 'p', namespace: 'ops' } }],
    ['spec.gates[1].namespace', foreign.spec!],
    ['spec.healthCheckSelector.namespaceSelector', { healthCheckSelector: { namespaceSelector: {} } }],
  ])('%s is refused at the write', async (path, spec) => {
    const result = await validate(rollout(spec));
    expect(result).toMatchObject({ allowed: false, message: expect.stringContaining(path) });
    expect(result).toMatchObject({ message: expect.stringContaining('are forbidden (NO_CROSS_NAMESPACE_REFS)') });
  });

  it('to a closed Gate is removed without a bypass: it names no Gate', async () => {
    const theirs = object('gate.fluxcd.io/v1alpha1', 'Gate', 'theirs', { default: 'closed' });
    theirs.metadata.namespace = 'ops';
    const decide = (noCrossNamespaceRefs: boolean) =>
      admitted(
        validateRollout,
        { object: rollout({ gates: [{ name: 'own', namespace: 'team-a' }] }), old: foreign },
        { objects: [theirs], settings: { noCrossNamespaceRefs } },
      );
    expect(await decide(true)).toMatchObject({ allowed: true });
    expect(await decide(false)).toMatchObject({ allowed: false, message: expect.stringContaining('ops/theirs') });
  });

  it('a HealthCheck about a Kustomization of another namespace is refused, one of its own is not', async () => {
    const decide = (kustomization: string, noCrossNamespaceRefs: boolean) => {
      const check = object('kuberik.com/v1alpha1', 'HealthCheck', 'hc', { class: 'kustomization' });
      check.metadata.annotations = { 'healthcheck.kuberik.com/kustomization': kustomization };
      return admitted(validateHealthCheck, { object: check }, { settings: { noCrossNamespaceRefs } });
    };
    expect(await decide('ops/app', true)).toMatchObject({
      allowed: false,
      message:
        "HealthCheck 'team-a/hc': Kustomization 'ops/app' is in another namespace, which this installation forbids",
    });
    expect(await decide('team-a/app', true)).toMatchObject({ allowed: true });
    expect(await decide('ops/app', false)).toMatchObject({ allowed: true });
  });
});
