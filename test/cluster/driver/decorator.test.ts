/** Requirements of the hooks for their driver: writes on an object, and its attachments. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { child, drivenThings } from './drivenThings.ts';

const cluster = sharedCluster();
const { admin } = cluster;
const { namespace: ns, decorator, thing, thingRef, statusOf, settings, calls } = await drivenThings(cluster);

describe('decorator', () => {
  it('writes status, labels and annotations, and marks attachments', async () => {
    const controller = await decorator({}, ({ object }) => ({
      body: {
        labels: { added: 'yes' },
        annotations: { kept: 'changed', dropped: null },
        status: { seen: object.metadata.generation },
        attachments: [child('attached', { v: '1' })],
      },
    }));
    await thing('decorated', controller, { annotations: { kept: 'old', dropped: 'x', theirs: 'y' } });
    const attached = await waitFor(() => admin.find(settings('attached')), 'the attachment');
    const { metadata, status } = await admin.get(thingRef('decorated'));
    const { name } = controller;
    expect(status).toEqual({ seen: 1 });
    expect(metadata.labels).toEqual({ belongs: name, added: 'yes' });
    expect(metadata.annotations).toEqual({ kept: 'changed', theirs: 'y' });
    expect(attached.metadata.annotations).toMatchObject({ 'metacontroller.k8s.io/decorator-controller': name });
    expect(attached.metadata.ownerReferences).toMatchObject([
      { uid: metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(calls(controller.path)[0]).toMatchObject({
      attachments: { 'ConfigMap.v1': {} },
      related: {},
      finalizing: false,
    });
    await waitFor(() => calls(controller.path).at(-1).attachments['ConfigMap.v1'][`${ns}/attached`], 'it in a request');
  });

  it('null status leaves the status alone', async () => {
    const controller = await decorator({}, () => ({ body: { annotations: { done: 'yes' } } }));
    await thing('left-alone', controller);
    await admin.patchStatus(thingRef('left-alone'), { theirs: true });
    await waitFor(async () => (await admin.get(thingRef('left-alone'))).metadata.annotations?.done, 'the annotation');
    expect(await statusOf('left-alone')).toEqual({ theirs: true });
  });

  it('an attachment left out is deleted', async () => {
    const controller = await decorator({}, ({ object }) => ({
      body: { attachments: object.spec.off ? [] : [child('temporary', {})] },
    }));
    await thing('attacher', controller);
    await waitFor(() => admin.find(settings('temporary')), 'the attachment');
    await admin.mergePatch(thingRef('attacher'), { spec: { off: true } });
    await waitFor(async () => !(await admin.find(settings('temporary'))), 'its deletion');
  });

  it.each([
    { what: 'status', answer: { status: { stale: true } } },
    { what: 'annotations', answer: { annotations: { stale: 'yes' } } },
  ])('a conflict of $what is swallowed, and the rest of the answer with it', async ({ what, answer }) => {
    const name = `conflict-${what}`;
    const controller = await decorator({}, async (_request, call) => {
      if (call > 1) return { body: {} };
      await admin.mergePatch(thingRef(name), { spec: { changed: 'meanwhile' } });
      return { body: { ...answer, attachments: [child(`never-${what}`, {})] } };
    });
    await thing(name, controller);
    await waitFor(() => calls(controller.path).length >= 2, 'the sync of the change');
    await staysTrue(async () => !(await admin.find(settings(`never-${what}`))), 'no attachment', 1000);
    const { metadata, status } = await admin.get(thingRef(name));
    expect({ status, stale: metadata.annotations?.stale }).toEqual({ status: undefined, stale: undefined });
    expect(calls(controller.path)).toHaveLength(2);
  });
});
