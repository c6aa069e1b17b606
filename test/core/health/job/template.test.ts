/** Templates of a HealthCheck of class job: those that are run, and the messages of the others. */
import { describe, expect, it } from 'vitest';
import { type JobTemplate, jobOf, jobTemplateOf, templateProblem } from '../../../../core/health/job/checkJob.ts';
import { LIMITS } from '../../../../core/limits.ts';
import { check, HEAD, jobSpec, nameOf, pod, rollout } from './fixture.ts';

const problem = (spec: unknown) => templateProblem({ spec } as JobTemplate);
const ofJob = (fields?: object) => problem(jobSpec(fields));
const ofPod = (fields: object) => ofJob({ template: { spec: pod(fields) } });
const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

describe('a template', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['a Pod that runs once', ofJob(), undefined],
    ['one that is restarted', ofPod({ restartPolicy: 'OnFailure' }), undefined],
    ['several completions', ofJob({ completions: 3, parallelism: 2 }), undefined],
    ['no map', problem([]), 'spec is not a map: it is the spec of a Job'],
    [
      'a TTL',
      ofJob({ ttlSecondsAfterFinished: 0 }),
      'spec.ttlSecondsAfterFinished must not be set: the Job is deleted when a later deployment has run its own',
    ],
    ['suspended', ofJob({ suspend: true }), 'spec.suspend must not be set: a suspended Job never ends'],
    ['a selector', ofJob({ selector: {} }), 'spec.selector must not be set: Kubernetes sets it'],
    ['nothing to complete', ofJob({ completions: 0 }), 'spec.completions is 0: such a Job runs nothing'],
    ['no Pod', problem({}), 'spec.template.spec is missing: it is the spec of the Pod'],
    [
      'restarted for ever',
      ofPod({ restartPolicy: 'Always' }),
      'spec.template.spec.restartPolicy is "Always": a Job takes Never or OnFailure',
    ],
    [
      'the default restart policy',
      ofPod({ restartPolicy: undefined }),
      'spec.template.spec.restartPolicy is missing: a Job takes Never or OnFailure',
    ],
    ['no container', ofPod({ containers: [] }), 'spec.template.spec.containers is empty or not a list'],
    [
      'a container without an image',
      ofPod({ containers: [{ name: 'a', image: 'b' }, { name: 'c' }] }),
      'spec.template.spec.containers[1] needs a name and an image',
    ],
    [
      'deeper than the limit',
      ofJob({ template: { spec: pod({ x: deep(LIMITS.nesting) }) } }),
      `spec.job.template is nested more than ${LIMITS.nesting} levels deep (limit nesting)`,
    ],
  ])('%s', (_, found, expected) => {
    expect(found?.replace('spec.job.template.', '')).toBe(expected);
  });

  it('may be as large as the limit, and not larger', () => {
    const sized = (length: number) => ofPod({ x: 'x'.repeat(length) });
    const rest = JSON.stringify({ spec: jobSpec({ template: { spec: pod({ x: '' }) } }) }).length;
    expect(sized(LIMITS.jobTemplate - rest)).toBeUndefined();
    expect(sized(LIMITS.jobTemplate - rest + 1)).toBe(
      `spec.job.template has ${LIMITS.jobTemplate + 1} characters, more than ${LIMITS.jobTemplate} (limit jobTemplate): keep scripts in a ConfigMap`,
    );
  });

  it('counts for class job alone', () => {
    expect(jobTemplateOf(check())).toBeDefined();
    expect(jobTemplateOf({ ...check(), spec: { class: 'job' } })).toBeUndefined();
    expect(jobTemplateOf({ ...check(), spec: { ...check().spec, class: 'other' } })).toBeUndefined();
  });
});

describe('the Job of a deployment', () => {
  it('is in the namespace of the check, with its labels and no other metadata', () => {
    const template = {
      metadata: { labels: { team: 'a' }, annotations: { note: 'b' }, namespace: 'kube-system', ownerReferences: [{}] },
      spec: jobSpec(),
    } as JobTemplate;
    expect(jobOf({ check: check(), template, rollout: rollout(), head: HEAD })).toEqual({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: expect.stringMatching(/^smoke-web-7-[0-9a-f]{16}$/),
        namespace: 'team-a',
        labels: { team: 'a', 'healthcheck.kuberik.com/runs-for': 'smoke' },
        annotations: { note: 'b' },
      },
      spec: jobSpec(),
    });
  });

  it('has another name for each check, template, Rollout, deployment and retry', () => {
    const names = [
      nameOf(),
      nameOf(check(undefined, { name: 'other' })),
      nameOf(check(undefined, { spec: jobSpec({ backoffLimit: 1 }) })),
      nameOf(check(), rollout(HEAD, 'other')),
      nameOf(check(), rollout({ ...HEAD, id: 8 })),
      nameOf(check(), rollout({ ...HEAD, timestamp: '2026-03-01T11:00:01Z' })),
      nameOf(check(), rollout({ ...HEAD, lastRetryTimestamp: '2026-03-01T11:10:00Z' })),
      nameOf({ ...check(), metadata: { ...check().metadata, uid: 'created-again' } }),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(nameOf(check(), rollout({ ...HEAD, bakeStatus: 'Failed', appliedTime: '2026-03-01T11:30:00Z' }))).toBe(
      names[0],
    );
  });

  it('has a name that is a label, however long the others are', () => {
    const name = nameOf(
      check(undefined, { name: 'a.b'.repeat(80) }),
      rollout({ ...HEAD, id: 2 ** 40 }, 'b'.repeat(250)),
    );
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    expect(name.length).toBeLessThanOrEqual(63);
  });
});
