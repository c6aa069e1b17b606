import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { readManagedField } from '../../../core/managedField/managedFields.ts';
import { setManagedFields } from '../../../core/managedField/setManagedFields.ts';
import { fullText } from '../../../core/text/commands.ts';
import {
  APP_PATH,
  deployment,
  type KustomizationParts,
  kustomization,
  ociRepository,
  owner,
  rollout,
  rolloutsByName,
} from '../admission/objects.ts';

const APP = { rollout: 'my-app', variable: 'APP' };
const apply = [owner('Apply', APP_PATH)];
const edit = [owner('Update', APP_PATH)];
const at110 = { deployed: deployment('my-app', 2, '1.1.0') };
const my = rollout('my-app', '1.1.0', '1.0.0');
const pinned: Rollout = { ...my, spec: { ...my.spec, releasesImagePolicy: {}, wantedVersion: '1.1.0' } };

const edited = (value: string): KustomizationParts => ({ ...at110, substitute: { APP: value }, managedFields: edit });
const lastApplied = { APP: '1.0.0' };
const APPLIED = { ...at110, lastApplied };
const at100 = { deployed: deployment('my-app', 1, '1.0.0'), substitute: { APP: '1.0.0' } };
const STAYS = /^APP stays 1\.1\.0/;

interface Row {
  title: string;
  /** Absent: CREATE. */
  old?: KustomizationParts;
  object: KustomizationParts;
  rollouts?: Rollout[];
  value?: string | undefined;
  deployed?: string | undefined;
  warning?: RegExp;
  denial?: RegExp;
}

const row = (
  title: string,
  old: Row['old'],
  object: Row['object'],
  rest: Omit<Row, 'title' | 'old' | 'object'> = {},
): Row => ({ title, ...(old && { old }), object, ...rest });

const rows: Row[] = [
  row(
    'a server-side apply of another literal is set back',
    at110,
    { ...edited('1.0.0'), managedFields: apply },
    { warning: /^APP stays 1\.1\.0: Rollout 'my-app' manages it\. To change it, deploy on the Rollout/ },
  ),
  row(
    'a client-side apply of the literal it applied before is set back',
    APPLIED,
    { ...edited('1.0.0'), lastApplied },
    { warning: STAYS },
  ),
  row(
    'a client-side apply of a new literal is denied',
    APPLIED,
    { ...edited('2.0.0'), lastApplied: { APP: '2.0.0' } },
    { denial: /cannot be set to '2\.0\.0': Rollout 'my-app' manages it and has deployed '1\.1\.0'/ },
  ),
  row(
    'a direct edit that borrows the last-applied annotation is set back at most',
    APPLIED,
    { ...edited('2.0.0'), lastApplied },
    { denial: /cannot be set to '2\.0\.0'/ },
  ),
  row('a direct edit is denied, and says how to deploy the version, and how to stay on it', at110, edited('2.0.0'), {
    denial:
      /deployed '1\.1\.0'\.\nTo deploy 2\.0\.0 on that Rollout:\n {2}kubectl -n shop annotate --overwrite rollout\.kuberik\.com\/my-app rollout\.kuberik\.com\/force-deploy=2\.0\.0\nTo deploy 2\.0\.0 and stay on it:\n {2}kubectl -n shop patch rollout\.kuberik\.com\/my-app --type=merge -p '\{"spec":\{"wantedVersion":"2\.0\.0"\}\}'$/,
  }),
  row('a direct edit of a pinned Rollout changes the pin: a force-deploy would wait for it', at110, edited('2.0.0'), {
    rollouts: [pinned],
    denial:
      /deployed '1\.1\.0'\. That Rollout is pinned to '1\.1\.0'\.\nTo pin Rollout my-app to 2\.0\.0:\n {2}kubectl -n shop patch rollout\.kuberik\.com\/my-app --type=merge -p '\{"spec":\{"wantedVersion":"2\.0\.0"\}\}'$/,
  }),
  row('what is no version is not put into a command that somebody may paste', at110, edited('$(reboot)'), {
    denial: /force-deploy='<version>'\n.*\n.*"wantedVersion":"<version>"\}\}'$/,
  }),
  row('a text of any length is quoted as far as a tag may be long', at110, edited('9'.repeat(500_000)), {
    denial: /cannot be set to '9{128}…': Rollout/,
  }),
  row(
    'a field that both an apply and an update own was not applied',
    at110,
    { ...at110, substitute: { APP: '2.0.0' }, managedFields: [...apply, ...edit] },
    { denial: /cannot be set/ },
  ),
  row(
    'an update that nobody owns is no apply',
    at110,
    { ...at110, substitute: { APP: '2.0.0' } },
    { denial: /cannot be set/ },
  ),
  row('a removal is reverted, whoever makes it', at110, { ...at110, substitute: {} }, { warning: STAYS }),
  row('postBuild removed is a removal too', at110, { ...at110, substitute: null }, { warning: STAYS }),
  row('a write of something else gets the new version, without a Warning', at100, { ...at100, managedFields: edit }),
  row('the first deployment of an object without a value is no revert', { substitute: null }, { substitute: null }),
  row(
    'a direct edit to what is deployed passes',
    { substitute: { APP: '1.0.0' } },
    { substitute: { APP: '1.1.0' }, managedFields: edit },
  ),
  row('text of anybody else in the annotation does not count and is no reason to deny', at110, {
    deployed: 'my-app=99/9.9.9/uid-my-app,other=1/1/x',
  }),
  row('a removed annotation comes back', at110, {}),
  row(
    'a field that becomes managed in this write takes the value, with a warning',
    { annotations: {}, substitute: { APP: '0.9.0' } },
    { substitute: { APP: '2.0.0' }, managedFields: edit },
    { warning: STAYS },
  ),
  row('created with another literal', undefined, { substitute: { APP: '0.0.1' } }, { warning: STAYS }),
  row('created with the literal', undefined, {}),
  row('created with substitute empty', undefined, { substitute: {} }),
  row('created without postBuild', undefined, { substitute: null }),
  row(
    'created before the Rollout deployed anything: its own value',
    undefined,
    { substitute: { APP: '0.0.1' } },
    { rollouts: [rollout('my-app')], value: '0.0.1', deployed: undefined },
  ),
  row(
    'restored from a backup without its Rollout: the annotation that tells the truth stays',
    undefined,
    { substitute: { APP: '1.1.0' }, ...at110 },
    { rollouts: [], deployed: at110.deployed },
  ),
  row(
    'restored from a backup: an annotation that does not fit the value is dropped',
    undefined,
    { substitute: { APP: '1.2.0' }, ...at110 },
    { rollouts: [], value: '1.2.0', deployed: undefined },
  ),
  row(
    'Rollout gone: an apply changes nothing',
    at110,
    { substitute: { APP: '1.0.0' }, managedFields: apply },
    { rollouts: [], warning: /^APP stays 1\.1\.0: Rollout 'my-app' does not exist/ },
  ),
  row(
    'Rollout created anew, without history: an apply changes nothing',
    at110,
    { ...edited('1.0.0'), managedFields: apply },
    { rollouts: [rollout('my-app')], warning: /^APP stays 1\.1\.0: Rollout 'my-app' has deployed nothing yet/ },
  ),
  row('Rollout gone: a removal changes nothing', at110, { ...at110, substitute: {} }, { rollouts: [], warning: STAYS }),
  row('Rollout gone: a direct edit passes, and the annotation tells what is carried now', at110, edited('1.2.0'), {
    rollouts: [],
    value: '1.2.0',
    deployed: deployment('my-app', 2, '1.2.0'),
    warning: /^APP is set to 1\.2\.0\. Rollout 'my-app' does not exist, so nothing keeps this value/,
  }),
  row('Rollout gone: a direct edit to what is no tag is no deployment', at110, edited('x'.repeat(129)), {
    rollouts: [],
    value: 'x'.repeat(129),
    deployed: undefined,
    warning: /nothing keeps this value/,
  }),
  row(
    'created without its Rollout, with an annotation of a version that none can have: not kept',
    undefined,
    { substitute: { APP: 'x'.repeat(400) }, deployed: deployment('my-app', 2, 'x'.repeat(400)) },
    { rollouts: [], value: 'x'.repeat(400), deployed: undefined },
  ),
  row(
    'nor is one of a uid that none can have',
    undefined,
    { substitute: { APP: '1.1.0' }, deployed: `my-app=2/1.1.0/${'u'.repeat(65)}` },
    { rollouts: [], deployed: undefined },
  ),
  row(
    'no Rollout and no annotation of a deployment: not ours',
    { substitute: { APP: '1' } },
    { substitute: { APP: '2' }, managedFields: edit, deployed: deployment('my-app', 9, '2') },
    { rollouts: [], value: '2', deployed: undefined },
  ),
  row(
    'two claims on one variable: left as it is, with a problem',
    undefined,
    { annotations: { 'rollout.kuberik.com/substitute.APP.from': 'my-app,other' }, substitute: { APP: '5' } },
    { value: '5', deployed: undefined, warning: /^Rollouts my-app and other claim APP/ },
  ),
  row(
    'without the annotation that binds it, the object loses that of the deployment',
    at110,
    { annotations: {}, ...at110, substitute: { APP: '5' }, managedFields: edit },
    { value: '5', deployed: undefined },
  ),
];

describe('one write of a bound Kustomization', () => {
  it.each(rows)('$title', (row) => {
    const write = {
      object: kustomization(row.object),
      old: row.old && kustomization(row.old),
      rollouts: rolloutsByName(...(row.rollouts ?? [my])),
    };
    const outcome = setManagedFields(write);
    if (row.denial) return expect(outcome.denials.map(fullText)).toEqual([expect.stringMatching(row.denial)]);
    expect(outcome.denials).toEqual([]);
    expect(outcome.warnings).toEqual(row.warning ? [expect.stringMatching(row.warning)] : []);
    expect(readManagedField(outcome.object, APP)).toBe('value' in row ? row.value : '1.1.0');
    expect(outcome.object.metadata.annotations?.[DEPLOYED]).toBe('deployed' in row ? row.deployed : at110.deployed);
    expect(setManagedFields({ ...write, object: outcome.object }).object, 'a second pass').toEqual(outcome.object);
  });

  it('three variables from three Rollouts: a new version changes only its own, a fourth is never touched', () => {
    const annotations = Object.fromEntries(
      ['A', 'B', 'C'].map((v) => [`rollout.kuberik.com/substitute.${v}.from`, v.toLowerCase()]),
    );
    const create = kustomization({ annotations, substitute: { FOURTH: 'mine' } });
    const stored = setManagedFields({
      object: create,
      rollouts: rolloutsByName(rollout('a', '1'), rollout('b', '1'), rollout('c', '1')),
    }).object;
    expect(stored.spec?.postBuild).toEqual({ substitute: { A: '1', B: '1', C: '1', FOURTH: 'mine' } });
    const next = setManagedFields({
      object: stored,
      old: stored,
      rollouts: rolloutsByName(rollout('a', '1'), rollout('b', '2', '1'), rollout('c', '1')),
    }).object;
    expect(next.spec?.postBuild).toEqual({ substitute: { A: '1', B: '2', C: '1', FOURTH: 'mine' } });
    expect(next.metadata.annotations?.[DEPLOYED]).toBe('a=1/1/uid-a,b=2/2/uid-b,c=1/1/uid-c');
  });
});

it('each field that is set back has a Warning of its own', () => {
  const annotations = Object.fromEntries(['A', 'B'].map((v) => [`rollout.kuberik.com/substitute.${v}.from`, 'my-app']));
  const object = kustomization({ annotations, substitute: { A: '0.1.0', B: '0.1.0' } });
  expect(setManagedFields({ object, rollouts: rolloutsByName(my) }).warnings).toEqual([
    "A stays 1.1.0: Rollout 'my-app' manages it. To change it, deploy on the Rollout",
    "B stays 1.1.0: Rollout 'my-app' manages it. To change it, deploy on the Rollout",
  ]);
});

describe('one write of a bound OCIRepository', () => {
  const refs: [title: string, ref: Record<string, string> | null, warning?: RegExp][] = [
    ['ref absent', null],
    ['ref empty', {}],
    ['semver beside the tag', { tag: '1.1.0', semver: '>=1' }, /^semver removed from spec\.ref/],
    ['digest alone', { digest: 'sha256:0' }, /^digest removed from spec\.ref/],
    ['both', { digest: 'sha256:0', semver: '>=1' }, /^digest and semver removed/],
    ['another tag', { tag: 'latest' }, /^spec\.ref\.tag stays 1\.1\.0/],
  ];
  it.each(refs)('created with %s', (_, ref, warning) => {
    const outcome = setManagedFields({ object: ociRepository(ref), rollouts: rolloutsByName(my) });
    expect(outcome.object.spec?.ref).toEqual({ tag: '1.1.0' });
    expect(outcome.warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
  });

  it('a manually added digest does not override the managed tag', () => {
    const stored = ociRepository({ tag: '1.1.0' }, at110);
    const object = ociRepository({ tag: '1.1.0', digest: 'sha256:0' }, at110);
    expect(setManagedFields({ object, old: stored, rollouts: rolloutsByName(my) }).object).toEqual(stored);
  });

  it('keeps unknown fields of ref', () => {
    const object = ociRepository({ semverFilter: '.*' });
    expect(setManagedFields({ object, rollouts: rolloutsByName(my) }).object.spec?.ref).toEqual({
      semverFilter: '.*',
      tag: '1.1.0',
    });
  });
});

describe('any write', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const variable = fc.constantFrom('A', 'B', 'C', 'D');
  const values = fc.dictionary(variable, fc.constantFrom('1', '2', '3'));
  const annotations = fc.dictionary(
    variable.map((v) => `rollout.kuberik.com/substitute.${v}.from`),
    fc.oneof(name, fc.constant('a,b')),
  );
  const object = fc
    .record({ annotations, substitute: values, applied: fc.boolean() })
    .map(({ annotations, substitute, applied }) =>
      kustomization({
        annotations,
        substitute,
        managedFields: [
          owner(applied ? 'Apply' : 'Update', ...Object.keys(substitute).map((v) => APP_PATH.replace('APP', v))),
        ],
      }),
    );
  const context = fc
    .dictionary(name, fc.array(fc.constantFrom('1', '2', '3'), { maxLength: 3 }))
    .map((d) => rolloutsByName(...Object.entries(d).map(([n, tags]) => rollout(n, ...tags))));

  it('is idempotent, touches nothing unmanaged, and changes nothing in place', () => {
    fc.assert(
      fc.property(object, fc.option(object, { nil: undefined }), context, (wanted, before, rollouts) => {
        const old = before && setManagedFields({ object: before, rollouts }).object;
        const input = JSON.stringify(wanted);
        const first = setManagedFields({ object: wanted, old, rollouts });
        expect(JSON.stringify(wanted)).toBe(input);
        if (first.denials.length > 0) return;
        const second = setManagedFields({ object: first.object, old, rollouts });
        expect(second.object).toEqual(first.object);
        expect(second.denials).toEqual([]);
        expect(unmanaged(first.object)).toEqual(unmanaged(wanted));
      }),
      { numRuns: 300 },
    );
  });

  function unmanaged(o: FluxObject): unknown {
    const marked = Object.keys(o.metadata.annotations ?? {}).map((key) => /substitute\.(.*)\.from/.exec(key)?.[1]);
    const substitute = (o.spec?.postBuild as any)?.substitute ?? {};
    const rest = Object.entries(substitute).filter(([key]) => !marked.includes(key));
    const { postBuild: _, ...spec } = o.spec ?? {};
    const { [DEPLOYED]: __, ...annotations } = o.metadata.annotations ?? {};
    return { rest: Object.fromEntries(rest), spec, annotations };
  }
});
