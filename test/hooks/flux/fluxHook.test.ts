import { describe, expect, it } from 'vitest';
import { DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { DeploymentRef, FluxBinding, FluxBindingStatus } from '../../../api/types.ts';
import { minuteOf } from '../../../core/kube/time.ts';
import { parseDeployments } from '../../../core/managedField/deployment.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { controller, decorating, mapOf } from '../../../dev/fakes/requests.ts';
import { fluxBindingHook } from '../../../hooks/flux/fluxBindingHook.ts';
import { fluxHook } from '../../../hooks/flux/fluxHook.ts';
import { deployment, kustomization, NOW, ociRepository, rollout } from '../../core/admission/objects.ts';
import { problemsOf } from '../../manifests/schema.ts';
import { objectOf } from '../../support/objects.ts';

const { call } = fakeHookCall({ now: NOW });

async function decorate(object: FluxObject, binding?: FluxBinding, related: KubeObject<any, any>[] = []) {
  return fluxHook.sync(decorating(object, { related, attachments: mapOf(binding) }), call);
}

async function bind(parent: FluxBinding, ...related: KubeObject<any, any>[]): Promise<FluxBinding> {
  const answer = await fluxBindingHook.sync(
    { controller, parent, children: {}, related: mapOf(...related), finalizing: false },
    call,
  );
  const result = { ...parent, status: answer.status as FluxBinding['status'] };
  // The API server would prune a field that isn't in the schema, and each sync would write it again.
  expect(problemsOf(result)).toEqual([]);
  return result;
}

describe('the Flux decorator', () => {
  it('answers nothing for an unmarked object, which removes its binding', async () => {
    expect(await decorate(kustomization({ annotations: {} }))).toEqual({ attachments: [] });
  });

  it('publishes the requests of a Kustomization', async () => {
    const answer = await decorate(kustomization({ deployed: deployment('my-app', 1, '1.0.0') }));
    expect(answer).toEqual({
      attachments: [
        objectOf('FluxBinding', 'shop/kustomization-web', {
          metadata: { labels: { 'my-app.rollout.kuberik.com/bound': '' } },
          spec: {
            target: {
              apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
              kind: 'Kustomization',
              name: 'web',
              uid: 'uid-web',
            },
            fields: [{ rollout: 'my-app', variable: 'APP' }],
            source: {
              apiVersion: 'source.toolkit.fluxcd.io/v1',
              kind: 'GitRepository',
              namespace: 'shop',
              name: 'shop',
            },
            observed: { deployed: [{ rollout: 'my-app', id: 1, version: '1.0.0', uid: 'uid-my-app' }] },
          },
        }),
      ],
    });
  });

  it('has no empty map in the binding of an object that is only wrongly marked', async () => {
    const { attachments } = await decorate(kustomization({ annotations: { 'rollout.kuberik.com/rollout': 'x' } }));
    expect(attachments[0]?.metadata).not.toHaveProperty('labels');
  });

  const at = (id: number, version: string, uid = 'uid-my-app') => `my-app=${id}/${version}/${uid}`;
  const triggers: [title: string, carried: string | undefined, desired: string, answer: string | null | undefined][] = [
    ['a newer deployment', at(1, '1.0.0'), at(2, '1.1.0'), at(2, '1.1.0')],
    ['the first deployment', undefined, at(1, '1.0.0'), at(1, '1.0.0')],
    ['another Rollout of that name', at(7, '1.0.0', 'old'), at(1, '1.1.0'), at(1, '1.1.0')],
    ['a binding that lags behind', at(2, '1.1.0'), at(1, '1.0.0'), undefined],
    ['nothing new', at(2, '1.1.0'), at(2, '1.1.0'), undefined],
  ];
  /** The binding's status when the Rollout has this deployment. */
  const follows = (deployed: string) => {
    const [{ rollout, id, version, uid }] = parseDeployments(deployed) as [DeploymentRef];
    return { deployed, fields: [{ rollout, variable: 'APP', id, version, uid, state: 'Waiting' as const }] };
  };
  it.each(triggers)('wakes the webhook or not: %s', async (_, carried, desired, answer) => {
    const object = kustomization({ ...(carried && { deployed: carried }) });
    const [binding] = (await decorate(object)).attachments as FluxBinding[];
    const response = await decorate(object, { ...binding!, status: follows(desired) });
    expect(response.annotations).toEqual(answer === undefined ? undefined : { [DEPLOYED]: answer });
    expect(response.resyncAfterSeconds).toBe(answer === undefined ? undefined : 1);
  });

  const quiet: [title: string, status: FluxBindingStatus][] = [
    ['behind a closed gate', { ...follows(at(2, '1.1.0')), gates: [{ namespace: 'ops', name: 'g', opened: false }] }],
    [
      'of a Rollout that is gone, whatever the FluxBinding has in its status',
      { deployed: at(7, '1.0.0', 'old'), fields: [{ rollout: 'my-app', variable: 'APP', state: 'Missing' }] },
    ],
  ];
  it.each(quiet)('leaves the webhook alone %s', async (_, status) => {
    const object = kustomization({ deployed: at(1, '1.0.0') });
    const [binding] = (await decorate(object)).attachments as FluxBinding[];
    const { annotations = {} } = await decorate(object, { ...binding!, status });
    expect(annotations).not.toHaveProperty([DEPLOYED]);
  });

  describe('when the annotation is right and the field is not', () => {
    const renewed = `${at(2, '1.1.0')},@${minuteOf(NOW)}`;
    const answerTo = async (deployed: string) => {
      const object = kustomization({ deployed, substitute: { APP: '0.9.0' } });
      const [binding] = (await decorate(object)).attachments as FluxBinding[];
      return decorate(object, await bind(binding!, rollout('my-app', '1.1.0', '1.0.0')));
    };

    it('triggers it while the source is still fetching the next deployment', async () => {
      const object = kustomization({ deployed: at(2, '1.1.0'), substitute: { APP: '0.9.0' } });
      const [binding] = (await decorate(object)).attachments as FluxBinding[];
      const { deployed: awaits, ...status } = follows(at(3, '1.2.0'));
      const answer = await decorate(object, { ...binding!, status: { ...status, source: { awaits } } });
      expect(answer.annotations).toMatchObject({ [DEPLOYED]: renewed });
    });

    it('triggers it by the present minute even if Git sets another field', async () => {
      const deployed = `${at(2, '1.1.0')},other=1/1.0.0/uid-other/git`;
      expect((await answerTo(deployed)).annotations).toEqual({ [DEPLOYED]: `${deployed},@${minuteOf(NOW)}` });
    });

    it('triggers it once a minute while the API server does not call it', async () => {
      const { annotations, resyncAfterSeconds } = await answerTo(renewed);
      expect([annotations, resyncAfterSeconds]).toEqual([undefined, 10.5]);
      const later = renewed.replace(/@.*/, '@2020-01-01T00:00:00Z');
      expect((await answerTo(later)).annotations).toEqual({ [DEPLOYED]: renewed });
    });
  });
});

describe('the FluxBinding composite', () => {
  it('relates exactly the objects that the binding names', async () => {
    const object = kustomization({
      annotations: {
        'rollout.kuberik.com/substitute.A.from': 'a',
        'rollout.kuberik.com/substitute.B.from': 'b',
        'rollout.kuberik.com/substitute.C.from': 'a',
      },
    });
    const [binding] = (await decorate(object)).attachments as FluxBinding[];
    binding!.spec!.gates = [
      { namespace: 'ops', gate: 'one' },
      { namespace: 'shop', gate: 'two' },
      { namespace: 'ops', gate: 'three' },
    ];
    const { relatedResources } = await fluxBindingHook.customize!({ controller, parent: binding as any }, call);
    expect(relatedResources).toEqual([
      { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'shop', names: ['a', 'b'] },
      { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', resource: 'gates', namespace: 'ops', names: ['one', 'three'] },
      { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', resource: 'gates', namespace: 'shop', names: ['two'] },
      { apiVersion: 'source.toolkit.fluxcd.io/v1', resource: 'gitrepositories', namespace: 'shop', names: ['shop'] },
    ]);
  });

  it('leaves out a source that is not served, and relates nothing without names', async () => {
    const cluster = { ...call.cluster, serves: async () => false };
    const [binding] = (await decorate(kustomization())).attachments as FluxBinding[];
    const rules = async (parent: any) =>
      (await fluxBindingHook.customize!({ controller, parent }, { ...call, cluster })).relatedResources;
    expect((await rules(binding)).map((rule) => rule.resource)).toEqual(['rollouts']);
    const [other] = (await decorate(ociRepository(null, { annotations: { 'rollout.kuberik.com/rollout': 'a,b' } })))
      .attachments as FluxBinding[];
    expect(await rules(other)).toEqual([]);
  });

  it('has the values that the object should have', async () => {
    const [binding] = (await decorate(kustomization())).attachments as FluxBinding[];
    const { status } = await bind(binding!, rollout('my-app', '1.1.0', '1.0.0'));
    expect(status).toMatchObject({
      deployed: deployment('my-app', 2, '1.1.0'),
      summary: 'my-app 1.1.0 (2)',
      fields: [{ rollout: 'my-app', variable: 'APP', state: 'Waiting', id: 2, version: '1.1.0', uid: 'uid-my-app' }],
    });
  });
});
