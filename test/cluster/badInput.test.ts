/** Bad input gets a clear answer, and other objects continue. */
import { describe, expect, it } from 'vitest';
import { objectIn } from '../manifests/files.ts';
import { kustomization, ref, rollout, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { history, substitutes, variablesArrive } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

const bindingOf = async (ns: string, object: string) =>
  waitFor(async () => {
    const bindings = await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns);
    return bindings.find(({ spec }) => spec.target.name === object);
  }, `the FluxBinding of ${object}`);

describe('a Rollout', () => {
  it('with a name of 253 characters works like any other', async () => {
    const ns = await newNamespace();
    const name = `${'a-long-name.'.repeat(21)}x`.slice(0, 253);
    await developer.create(rollout(ns, name, { spec: { releasesImagePolicy: { name: 'app' } } }));
    await developer.create(kustomization(ns, name, { variables: { APP_VERSION: name } }));
    await admin.create(rolloutGate(ns, name, name, { passing: true }));
    await publish(ns, 'app', '1.0.0');
    await variablesArrive(admin, ns, name, { APP_VERSION: '1.0.0' });
    await admin.mergePatch(ref('rolloutGate', ns, name), { spec: { passing: false } });
    await publish(ns, 'app', '1.1.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, name));
      return status.gates?.[0]?.passing === false && status.releaseCandidates?.[0]?.tag === '1.1.0';
    }, 'the gate to be seen');
    expect(await history(admin, ns, name)).toEqual([[1, '1.0.0']]);
  });
});

describe('a version that is not a tag', () => {
  const EVIL = '1.1.0;$(touch /tmp/x)';

  it('that an older CRD has stored stops no write of anything else', async () => {
    const ns = await newNamespace();
    const now = structuredClone(objectIn('crds/kuberik.com_rollouts.yaml'));
    now.spec.group = 'older.example.com';
    now.metadata = { name: 'rollouts.older.example.com' };
    const older = structuredClone(now);
    const { wantedVersion } = older.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
    delete wantedVersion.pattern;
    await admin.create(older as never);
    const object = {
      ...rollout(ns, 'app', { spec: { wantedVersion: EVIL } }),
      apiVersion: 'older.example.com/v1alpha1',
    };
    await waitFor(async () => Boolean(await admin.create(object).catch(() => undefined)), 'the CRD to be served');
    const crd = { apiVersion: now.apiVersion, kind: now.kind, metadata: { name: now.metadata.name } };
    await admin.mergePatch(crd, { spec: { versions: now.spec.versions } });
    const other = { ...object, metadata: { ...object.metadata, name: 'other' } };
    await waitFor(
      () =>
        admin.create(other, { dryRun: true }).then(
          () => false,
          (error) => /wantedVersion: Invalid value/.test(error.message),
        ),
      'the pattern to be in force',
    );
    await admin.mergePatch(object, { spec: { bakeTime: '1m' } });
    await admin.patchStatus(object, { title: 'app', revision: 1 });
    await expect(admin.mergePatch(object, { spec: { wantedVersion: `${EVIL}2` } })).rejects.toThrow('wantedVersion');
    await admin.mergePatch(object, { spec: { wantedVersion: '1.1.0' } });
    await admin.remove(crd);
  });
});

describe('a Flux object', () => {
  it('that loses its marks loses its binding and keeps its value', async () => {
    const ns = await newNamespace();
    await developer.create(rollout(ns, 'app'));
    await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
    await publish(ns, 'app', '1.0.0');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
    await bindingOf(ns, 'app');
    await developer.mergePatch(ref('kustomization', ns, 'app'), {
      metadata: { annotations: { 'rollout.kuberik.com/substitute.APP_VERSION.from': null } },
    });
    await waitFor(async () => {
      const object = await admin.get(ref('kustomization', ns, 'app'));
      const deployed = object.metadata.annotations?.['rollout.kuberik.com/deployed'];
      const bindings = await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns);
      return bindings.length === 0 && deployed === undefined;
    }, 'the binding and the annotation to go');
    await developer.mergePatch(ref('kustomization', ns, 'app'), {
      spec: { postBuild: { substitute: { APP_VERSION: '5.0.0' } } },
    });
    expect(await substitutes(admin, ns, 'app')).toEqual({ APP_VERSION: '5.0.0' });
  });
});
