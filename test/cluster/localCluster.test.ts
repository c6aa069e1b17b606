import { describe, expect, it } from 'vitest';
import { configMap, ref, sharedCluster } from './support/cluster.ts';

const { admin, developer, flux, newNamespace, publish } = sharedCluster();

describe('the local cluster', () => {
  it('knows its users by their own names', async () => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
    expect((await developer.create(review)).object.status.userInfo.username).toBe('developer');
    expect((await flux.create(review)).object.status.userInfo).toMatchObject({
      username: 'system:serviceaccount:flux-system:kustomize-controller',
      groups: expect.arrayContaining(['system:serviceaccounts:flux-system']),
    });
  });

  it.each([
    { verb: 'create', group: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations', may: true },
    { verb: 'patch', group: 'source.toolkit.fluxcd.io', resource: 'ocirepositories', may: true },
    { verb: 'update', group: 'kuberik.com', resource: 'rollouts', may: true },
    { verb: 'update', group: 'kuberik.com', resource: 'rollouts', subresource: 'status', may: false },
    {
      verb: 'patch',
      group: 'kustomize.toolkit.fluxcd.io',
      resource: 'kustomizations',
      subresource: 'status',
      // As with Flux's role flux-edit; the policy flux-status refuses the write.
      may: true,
    },
    { verb: 'create', group: 'kuberik.com', resource: 'healthchecks', may: true },
    { verb: 'delete', group: '', resource: 'configmaps', may: true },
    { verb: 'list', group: 'gating.toolkit.fluxcd.io', resource: 'gates', may: true },
    { verb: 'patch', group: 'gating.toolkit.fluxcd.io', resource: 'gates', may: false },
    { verb: 'bypass', group: 'gating.toolkit.fluxcd.io', resource: 'gates', may: false },
    { verb: 'patch', group: 'kuberik.com', resource: 'rolloutgates', may: false },
    { verb: 'patch', group: 'kuberik.com', resource: 'rolloutschedules', may: false },
    { verb: 'get', group: 'kuberik.com', resource: 'fluxbindings', may: true },
    { verb: 'update', group: 'kuberik.com', resource: 'fluxbindings', may: false },
    {
      verb: 'patch',
      group: 'admissionregistration.k8s.io',
      resource: 'validatingwebhookconfigurations',
      may: false,
    },
  ])('developer: $verb $resource $subresource: $may', async ({ may, ...resourceAttributes }) => {
    const { object } = await developer.create({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: { namespace: 'default', ...resourceAttributes } },
    });
    expect(object.status.allowed).toBe(may);
  });

  it('serves a published tag in both versions of ImagePolicy', async () => {
    const namespace = await newNamespace();
    await publish(namespace, 'app', '1.0.0');
    const latestRef = { name: 'registry.example.com/app', tag: '1.0.0' };
    const policy = ref('imagePolicy', namespace, 'app');
    expect((await admin.get(policy)).status).toEqual({ latestRef });
    const older = { ...policy, apiVersion: 'image.toolkit.fluxcd.io/v1beta2' };
    expect((await admin.get(older)).status).toEqual({ latestRef });
  });

  it('applies like kubectl: what the last apply had and this one has not is removed, others stay', async () => {
    const namespace = await newNamespace();
    const settings = ref('configMap', namespace, 'settings');
    await developer.clientSideApply(configMap(namespace, 'settings', { kept: '1', dropped: '1' }));
    await admin.mergePatch(settings, { data: { foreign: 'x' } });
    await developer.clientSideApply(configMap(namespace, 'settings', { kept: '2' }));
    expect((await admin.get(settings)).data).toEqual({ kept: '2', foreign: 'x' });
    const again = await developer.clientSideApply(configMap(namespace, 'settings', { kept: '2' }));
    expect(again.unchanged).toBe(true);
  });

  it('answers with the words and the warnings of the API server', async () => {
    const namespace = await newNamespace();
    await expect(developer.get(ref('configMap', namespace, 'none'))).rejects.toMatchObject({
      name: 'ApiError',
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "none" not found',
    });
    const { warnings } = await admin.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'dup', namespace },
      spec: { ports: [{ port: 80, name: 'a' }], externalIPs: ['10.1.2.3'] },
    });
    expect(warnings.join()).toContain('externalIPs');
  });
});
