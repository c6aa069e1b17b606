/** Requirements of the hooks for their driver: parents with children. */
import { describe, expect, it } from 'vitest';
import { configMap, sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { child, drivenThings } from './drivenThings.ts';

const cluster = sharedCluster();
const { admin } = cluster;
const {
  namespace: ns,
  apiVersion: API,
  composite,
  thing,
  thingRef,
  statusOf,
  settings,
  calls,
} = await drivenThings(cluster);

const LAST_APPLIED = 'metacontroller.k8s.io/last-applied-configuration';

describe('composite', () => {
  it('calls the hook with every group of children, and adds observedGeneration to the status', async () => {
    const controller = await composite({}, () => ({ body: { status: { phase: 'Ready' } } }));
    await thing('shape', controller);
    await waitFor(async () => (await statusOf('shape'))?.phase, 'the status');
    expect(await statusOf('shape')).toEqual({ phase: 'Ready', observedGeneration: 1 });
    const [request] = calls(controller.path);
    expect(request).toMatchObject({ children: { 'ConfigMap.v1': {} }, related: {}, finalizing: false });
    expect(request.parent.metadata.name).toBe('shape');
    expect(request.controller.metadata.name).toBe(controller.name);
  });

  it('wipes the status when the answer has none', async () => {
    const controller = await composite({}, ({ parent }) => ({
      body: parent.spec.quiet ? { children: [] } : { status: { phase: 'Ready' } },
    }));
    await thing('wiped', controller);
    await waitFor(async () => (await statusOf('wiped'))?.phase, 'the status');
    await admin.mergePatch(thingRef('wiped'), { spec: { quiet: true } });
    await waitFor(async () => (await statusOf('wiped')).observedGeneration === 2, 'the new generation');
    expect(await statusOf('wiped')).toEqual({ observedGeneration: 2 });
  });

  it('overwrites status changes made in the meantime', async () => {
    const controller = await composite({}, async (_request, call) => {
      if (call === 1) {
        await admin.patchStatus(thingRef('overwritten'), { theirs: true });
        await admin.mergePatch(thingRef('overwritten'), { metadata: { annotations: { a: 'b' } } });
      }
      return { body: { status: { phase: 'Ready' } } };
    });
    await thing('overwritten', controller);
    await waitFor(async () => (await statusOf('overwritten'))?.phase, 'the status');
    expect(await statusOf('overwritten')).toEqual({ phase: 'Ready', observedGeneration: 1 });
  });

  it('creates, updates and deletes children by the answer, and keeps other managers’ fields', async () => {
    const controller = await composite({}, ({ parent }) => ({
      body: { status: {}, children: parent.spec.v ? [child('owned', { v: parent.spec.v })] : [] },
    }));
    const parent = await thing('family', controller, { spec: { v: '1' } });
    const created = await waitFor(() => admin.find(settings('owned')), 'the child');
    expect(created.metadata.ownerReferences).toEqual([
      {
        apiVersion: API,
        kind: 'Thing',
        name: 'family',
        uid: parent.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(created.metadata.labels).toEqual({ 'controller-uid': parent.metadata.uid ?? '' });
    expect(created.metadata.annotations?.[LAST_APPLIED]).toBe(
      `{"apiVersion":"v1","data":{"v":"1"},"kind":"ConfigMap","metadata":{"labels":{"controller-uid":"${parent.metadata.uid}"},"name":"owned","namespace":"${ns}"}}`,
    );
    await waitFor(
      () => calls(controller.path).at(-1).children['ConfigMap.v1'][`${ns}/owned`],
      'the child in a request',
    );

    await admin.mergePatch(settings('owned'), { data: { theirs: 'x', v: 'drifted' } });
    await waitFor(async () => (await admin.get(settings('owned'))).data.v === '1', 'the drift to be put back');
    expect((await admin.get(settings('owned'))).data).toEqual({ v: '1', theirs: 'x' });

    await admin.mergePatch(thingRef('family'), { spec: { v: null } });
    await waitFor(async () => !(await admin.find(settings('owned'))), 'the child to be deleted');
  });

  it('never updates a child without an update method', async () => {
    const childResources = [{ apiVersion: 'v1', resource: 'configmaps' }];
    const controller = await composite({ spec: { childResources } }, ({ parent }) => ({
      body: { status: { seen: parent.spec.v }, children: [child('frozen', { v: parent.spec.v })] },
    }));
    await thing('on-delete', controller, { spec: { v: '1' } });
    await waitFor(() => admin.find(settings('frozen')), 'the child');
    await admin.mergePatch(thingRef('on-delete'), { spec: { v: '2' } });
    await waitFor(async () => (await statusOf('on-delete')).seen === '2', 'the second sync');
    expect((await admin.get(settings('frozen'))).data).toEqual({ v: '1' });
  });

  it('adopts orphans with the parent’s label, then deletes those that the hook doesn’t want', async () => {
    const controller = await composite({}, ({ children }) => ({
      body: { status: {}, children: children['ConfigMap.v1'][`${ns}/adopted`] ? [child('adopted', { v: '1' })] : [] },
    }));
    const parent = await thing('adopter', controller);
    const labels = { 'controller-uid': parent.metadata.uid ?? '' };
    const orphan = configMap(ns, 'adopted', { theirs: 'x' });
    await admin.create({ ...orphan, metadata: { ...orphan.metadata, labels } });
    await waitFor(async () => (await admin.get(settings('adopted'))).data.v === '1', 'the adopted child to be updated');
    const adopted = await admin.get(settings('adopted'));
    expect(adopted.data).toEqual({ theirs: 'x', v: '1' });
    expect(adopted.metadata.ownerReferences).toMatchObject([{ uid: parent.metadata.uid, controller: true }]);
    const unwanted = configMap(ns, 'unwanted', {});
    await admin.create({ ...unwanted, metadata: { ...unwanted.metadata, labels } });
    await waitFor(async () => !(await admin.find(settings('unwanted'))), 'the unwanted child to be deleted');
  });

  it('leaves an object of that name alone that is not its own', async () => {
    const controller = await composite({}, () => ({
      body: { status: { done: true }, children: [child('foreign', { v: '1' })] },
    }));
    await admin.create(configMap(ns, 'foreign', { theirs: 'x' }));
    await thing('polite', controller);
    await waitFor(async () => (await statusOf('polite'))?.done, 'the status');
    expect((await admin.get(settings('foreign'))).data).toEqual({ theirs: 'x' });
  });

  it('with ignoreStatusChanges a write of the status causes no sync, an annotation does', async () => {
    const controller = await composite({ rule: { ignoreStatusChanges: true } }, (_request, call) => ({
      body: { status: { call: Math.min(call, 2) } },
    }));
    await thing('ignored', controller);
    await waitFor(async () => (await statusOf('ignored'))?.call === 1, 'the status');
    await staysTrue(() => calls(controller.path).length === 1, 'one call', 1500);
    await admin.mergePatch(thingRef('ignored'), { metadata: { annotations: { a: 'b' } } });
    await waitFor(() => calls(controller.path).length === 2, 'the second call');
  });
});
