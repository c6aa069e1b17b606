import { describe, expect, it } from 'vitest';
import { managedFieldsOf, rolloutsOfObject } from '../../../core/managedField/managedFields.ts';
import { costInReadings } from '../../support/cost.ts';
import { helmRelease, kustomization, ociRepository } from '../admission/objects.ts';

const from = (variable: string) => `rollout.kuberik.com/substitute.${variable}.from`;
const ROLLOUT = 'rollout.kuberik.com/rollout';
const SUBSTITUTE = 'rollout.kuberik.com/substitute';
const long = 'a'.repeat(253);

const kustomizations: [title: string, annotations: Record<string, string>, fields: object[], problem?: RegExp][] = [
  ['nothing without annotations', {}, []],
  ['one variable', { [from('APP')]: 'my-app' }, [{ rollout: 'my-app', variable: 'APP' }]],
  [
    'three variables of three Rollouts, sorted',
    { [from('b')]: 'two', [from('a')]: 'one', [from('_c1')]: 'three' },
    [
      { rollout: 'three', variable: '_c1' },
      { rollout: 'one', variable: 'a' },
      { rollout: 'two', variable: 'b' },
    ],
  ],
  ['the older pair', { [ROLLOUT]: 'my-app', [SUBSTITUTE]: 'APP' }, [{ rollout: 'my-app', variable: 'APP' }]],
  [
    'both styles that differ: no owner',
    { [ROLLOUT]: 'one', [SUBSTITUTE]: 'APP', [from('APP')]: 'two', [from('OK')]: 'two' },
    [{ rollout: 'two', variable: 'OK' }],
    /^Rollouts one and two claim APP, so none sets it/,
  ],
  ['two Rollouts in one annotation: no owner', { [from('APP')]: 'a,b' }, [], /^Rollouts a and b claim APP/],
  ['a name of 253 characters', { [from('APP')]: long }, [{ rollout: long, variable: 'APP' }]],
  ['a name of 254 characters', { [from('APP')]: `${long}a` }, [], /is not the name of a Rollout/],
  ['an illegal Rollout name', { [from('APP')]: 'My App' }, [], /'My App' is not the name of a Rollout/],
  ['a path for a name', { [from('APP')]: '../gates' }, [], /is not the name of a Rollout/],
  ['no Rollout name', { [from('APP')]: '' }, [], /'' is not the name of a Rollout/],
  [
    'an illegal claim beside a legal one: no owner',
    { [ROLLOUT]: 'x y', [SUBSTITUTE]: 'APP', [from('APP')]: 'two' },
    [],
    /'x y' is not the name of a Rollout/,
  ],
  ['a variable with a dot', { [from('a.b')]: 'my-app' }, [], /'a.b' is not a variable/],
  ["a variable that is JavaScript's own", { [from('__proto__')]: 'my-app' }, [], /'__proto__' is not a variable/],
  ['half of the older pair', { [ROLLOUT]: 'my-app' }, [], /has no effect on a Kustomization without/],
  ['the other half', { [SUBSTITUTE]: 'APP' }, [], /has no effect without/],
];

describe('marks of a Kustomization', () => {
  it.each(kustomizations)('%s', (_, annotations, fields, problem) => {
    const marks = managedFieldsOf(kustomization({ annotations }));
    expect(marks.fields).toEqual(fields);
    if (problem) expect(marks.problems).toEqual([expect.stringMatching(problem)]);
    else expect(marks.problems).toEqual([]);
  });
});

describe('as many annotations as an object may have cost about the time that it takes to read them', () => {
  const variables = Array.from({ length: 500 }, (_, i) => `V${i}`);
  const names = Array.from({ length: 40 }, (_, i) => `r-${i}`).join(',');
  it.each([
    ['500 variables, each of many Rollouts', () => names],
    ['500 variables, each of another Rollout', (variable: string) => variable.toLowerCase()],
  ])('%s', (_, rollouts) => {
    const annotations = Object.fromEntries(variables.map((each) => [from(each), rollouts(each)]));
    const objects = Array.from({ length: 20 }, () => kustomization({ annotations }));
    expect(costInReadings(objects, () => objects.map(managedFieldsOf))).toBeLessThan(20);
  });
});

describe('marks of an OCIRepository', () => {
  it('is left alone when two Rollouts claim it', () => {
    const marks = managedFieldsOf(ociRepository(null, { annotations: { [ROLLOUT]: 'b,a' } }));
    expect(marks).toEqual({
      fields: [],
      problems: ['Rollouts a and b claim spec.ref.tag, so none sets it: keep only one of them in the annotations'],
    });
  });
});

describe('annotations of 256 kB', () => {
  it('are evaluated at once, and quoted in part', () => {
    const text = `${'a'.repeat(250_000)}!`;
    const object = kustomization({ annotations: { [from('APP')]: text } });
    expect(costInReadings(object, () => managedFieldsOf(object))).toBeLessThan(100);
    expect(managedFieldsOf(object).problems[0]!.length).toBeLessThan(500);
  });

  it('have limits for problems and for Rollouts to read', () => {
    const names = kustomization({ annotations: { [from('APP')]: ',!'.repeat(100_000) } });
    expect(managedFieldsOf(names).problems.length).toBeLessThanOrEqual(20);
    const many = Array.from({ length: 3000 }, (_, i) => [from(`V${i}`), `app-${i}`]);
    const { fields, tooMany } = managedFieldsOf(kustomization({ annotations: Object.fromEntries(many) }));
    expect(fields).toHaveLength(64);
    expect(tooMany).toBe(true);
  });
});

describe('marks of a HelmRelease', () => {
  it('have it follow one Rollout, and manage no field', () => {
    expect(managedFieldsOf(helmRelease())).toEqual({ fields: [], tracks: 'my-app', problems: [] });
    expect(rolloutsOfObject(helmRelease())).toEqual(['my-app']);
    expect(managedFieldsOf(helmRelease({ annotations: {} }))).toEqual({ fields: [], problems: [] });
  });

  it('of two Rollouts are one too many', () => {
    const marks = managedFieldsOf(helmRelease({ annotations: { [ROLLOUT]: 'b,a' } }));
    expect(marks).toEqual({
      fields: [],
      problems: ['Rollouts a and b claim the chart, so none sets it: keep only one of them in the annotations'],
    });
  });

  it.each([
    ['a chart of its own', { chartRef: undefined, chart: { spec: { chart: 'web' } } }],
    ['a HelmChart', { chartRef: { kind: 'HelmChart', name: 'web' } }],
    ['an OCIRepository of another namespace', { chartRef: { kind: 'OCIRepository', name: 'web', namespace: 'other' } }],
  ])('with %s are a problem, and it tracks all the same: the metadata alone says so', (_, spec) => {
    const { tracks, problems } = managedFieldsOf(helmRelease({ spec }));
    expect(tracks).toBe('my-app');
    expect(problems).toEqual([expect.stringContaining('needs a spec.chartRef to an OCIRepository of its namespace')]);
    expect(managedFieldsOf({ kind: 'HelmRelease', metadata: helmRelease().metadata }).problems).toEqual([]);
  });
});

it('report that a Rollout owns nothing of another kind', () => {
  const object = { ...kustomization({ annotations: { [ROLLOUT]: 'my-app' } }), kind: 'GitRepository' };
  expect(managedFieldsOf(object).problems).toEqual([expect.stringContaining('has no effect on a GitRepository')]);
});
