/**
 * What the hooks rely on in whatever calls them. Runs on the engine, and on a real Metacontroller when METACONTROLLER is
 * set: a rule that holds on one of them only is a fault of the engine.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { configMap, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { drivenThings } from './support/drivenThings.ts';
import type { Script } from './support/scriptedHooks.ts';

const cluster = sharedCluster();
const { admin, newNamespace } = cluster;
const { namespace: ns, apiVersion: API, ...things } = await drivenThings(cluster);
const { composite, decorator, thing, thingRef, statusOf, settings, calls } = things;

const LAST_APPLIED = 'metacontroller.k8s.io/last-applied-configuration';

const child = (name: string, data: Record<string, string>) => {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
};
const related =
  (rules: object[]): Script =>
  () => ({
    body: { relatedResources: rules.map((rule) => ({ apiVersion: 'v1', resource: 'configmaps', ...rule })) },
  });

describe('composite', () => {
  it('asks with every group of children, and adds observedGeneration to the status', async () => {
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

  it('writes the status over what others wrote in the meantime', async () => {
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

  it('creates, updates and deletes children as the hook answers, and leaves fields of others alone', async () => {
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
    expect(created.metadata.labels).toEqual({ 'controller-uid': parent.metadata.uid });
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

  it('recreates a child with the method Recreate', async () => {
    const childResources = [{ apiVersion: 'v1', resource: 'configmaps', updateStrategy: { method: 'Recreate' } }];
    const controller = await composite({ spec: { childResources } }, ({ parent }) => ({
      body: { status: {}, children: [child('anew', { v: parent.spec.v })] },
    }));
    await thing('recreate', controller, { spec: { v: '1' } });
    const { metadata } = await waitFor(() => admin.find(settings('anew')), 'the child');
    await admin.mergePatch(thingRef('recreate'), { spec: { v: '2' } });
    const second = await waitFor(async () => {
      const found = await admin.find(settings('anew'));
      return found?.data?.v === '2' && found;
    }, 'the second child');
    expect(second.metadata.uid).not.toBe(metadata.uid);
  });

  it('adopts orphans that the selector of the parent matches, and then deletes what the hook does not want', async () => {
    const controller = await composite({ spec: { generateSelector: false } }, ({ parent }) => ({
      body: {
        status: {},
        children: [
          { ...child('adopted', { v: '1' }), metadata: { name: 'adopted', labels: parent.spec.selector.matchLabels } },
        ],
      },
    }));
    const labels = { app: 'adopter' };
    const orphan = configMap(ns, 'adopted', { theirs: 'x' });
    await admin.create({ ...orphan, metadata: { ...orphan.metadata, labels } });
    const unwanted = configMap(ns, 'unwanted', {});
    await admin.create({ ...unwanted, metadata: { ...unwanted.metadata, labels } });
    const parent = await thing('adopter', controller, { spec: { selector: { matchLabels: labels } } });
    await waitFor(async () => (await admin.get(settings('adopted'))).data.v === '1', 'the adopted child to be updated');
    const adopted = await admin.get(settings('adopted'));
    expect(adopted.data).toEqual({ theirs: 'x', v: '1' });
    expect(adopted.metadata.ownerReferences).toMatchObject([{ uid: parent.metadata.uid, controller: true }]);
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

describe('decorator', () => {
  it('writes status, labels and annotations, and marks what it attaches', async () => {
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

describe('answers', () => {
  it.each([
    { what: 'an unknown field', body: { status: { wrong: true }, attachments: [] } },
    { what: 'a duplicate field', body: '{"status":{"wrong":true},"finalized":false,"finalized":false}' },
    { what: 'a status of the wrong type', body: { status: 'wrong' } },
    { what: 'another code than 200', code: 201, body: { status: { wrong: true } } },
  ])('$what fails the sync, which is tried again', async ({ what, body, code }) => {
    const name = what.replaceAll(' ', '-');
    const controller = await composite({}, (_request, call) =>
      call <= 2 ? { status: code, body } : { body: { status: { right: true } } },
    );
    await thing(name, controller);
    await waitFor(() => statusOf(name), 'a status');
    expect(await statusOf(name)).toEqual({ right: true, observedGeneration: 1 });
  });

  it('429 with Retry-After puts the sync off for that long', async () => {
    const times: number[] = [];
    const controller = await composite({}, (_request, call) => {
      times.push(Date.now());
      return call === 1 ? { status: 429, headers: { 'Retry-After': '2' } } : { body: { status: {} } };
    });
    await thing('too-many', controller);
    await waitFor(() => times.length >= 2, 'the second call');
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1990);
  });

  it('resyncAfterSeconds brings one more sync, after fractions of a second too', async () => {
    const controller = await composite({}, ({ parent }, call) => ({
      body: { status: parent.status ?? {}, resyncAfterSeconds: call <= 3 ? 0.3 : 0 },
    }));
    await thing('resync', controller);
    await waitFor(() => calls(controller.path).length >= 4, 'the syncs that were asked for');
    await staysTrue(() => calls(controller.path).length <= 5, 'no more of them', 1500);
  });
});

describe('related objects', () => {
  it('are in the request, and wake the parent when they change', async () => {
    const controller = await composite(
      { customize: ({ parent }) => related([{ namespace: ns, names: [parent.spec.watch] }])(parent, 1) },
      (request) => ({
        body: { status: { v: request.related['ConfigMap.v1'][`${ns}/${request.parent.spec.watch}`]?.data.v } },
      }),
    );
    await thing('watcher', controller, { spec: { watch: 'watched' } });
    await waitFor(async () => (await statusOf('watcher'))?.observedGeneration, 'the first sync');
    await admin.create(configMap(ns, 'watched', { v: '1' }));
    await waitFor(async () => (await statusOf('watcher')).v === '1', 'the sync of the creation');
    await admin.mergePatch(settings('watched'), { data: { v: '2' } });
    await waitFor(async () => (await statusOf('watcher')).v === '2', 'the sync of the change');
    await admin.remove(settings('watched'));
    await waitFor(async () => (await statusOf('watcher')).v === undefined, 'the sync of the deletion');
    expect(calls(controller.customizePath)[0].parent.metadata.name).toBe('watcher');
  });

  it('the customize answer is kept until the generation moves', async () => {
    const controller = await composite({ customize: related([]) }, ({ parent }) => ({
      body: { status: { note: parent.metadata.annotations?.note } },
    }));
    await thing('cached', controller);
    await waitFor(async () => (await statusOf('cached'))?.observedGeneration, 'the first sync');
    await admin.mergePatch(thingRef('cached'), { metadata: { annotations: { note: 'new' } } });
    await waitFor(async () => (await statusOf('cached')).note === 'new', 'the sync of the annotation');
    expect(calls(controller.customizePath)).toHaveLength(1);
    await admin.mergePatch(thingRef('cached'), { spec: { v: '2' } });
    await waitFor(async () => (await statusOf('cached')).observedGeneration === 2, 'the sync of the spec');
    expect(calls(controller.customizePath)).toHaveLength(2);
  });

  it('labels wake a parent when they begin to match and when they cease to', async () => {
    const selector = { matchExpressions: [{ key: 'wanted', operator: 'Exists' }] };
    const controller = await decorator(
      { customize: related([{ namespace: ns, labelSelector: selector }]) },
      (request) => ({
        body: { status: { names: Object.keys(request.related['ConfigMap.v1']) } },
      }),
    );
    await admin.create(configMap(ns, 'labelled', {}));
    await thing('by-label', controller);
    await waitFor(async () => (await statusOf('by-label'))?.names, 'the first sync');
    expect(await statusOf('by-label')).toEqual({ names: [] });
    await admin.mergePatch(settings('labelled'), { metadata: { labels: { wanted: '' } } });
    await waitFor(async () => (await statusOf('by-label')).names.length === 1, 'the match');
    expect(await statusOf('by-label')).toEqual({ names: [`${ns}/labelled`] });
    await admin.mergePatch(settings('labelled'), { metadata: { labels: { wanted: null } } });
    await waitFor(async () => (await statusOf('by-label')).names.length === 0, 'the end of the match');
  });

  it('namespaceSelector finds objects in other namespaces', async () => {
    const label = `team-${randomBytes(3).toString('hex')}`;
    const other = await newNamespace({ [label]: 'yes' });
    await admin.create(configMap(other, 'far', {}));
    const rules = related([{ namespaceSelector: { matchLabels: { [label]: 'yes' } }, labelSelector: {} }]);
    const controller = await composite({ customize: rules }, (request) => ({
      body: { status: { names: Object.keys(request.related['ConfigMap.v1']) } },
    }));
    await thing('far-seeing', controller);
    const status = await waitFor(() => statusOf('far-seeing'), 'the status');
    expect(status.names).toContain(`${other}/far`);
  });

  it.each([
    { what: 'names with labels', rule: { names: ['a'], labelSelector: {} } },
    { what: 'two namespaces', rule: { namespace: 'a', namespaceSelector: {} } },
    { what: 'a missing kind', rule: { resource: 'nothings' } },
    { what: 'a wrong operator', rule: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
  ])('$what in a rule fails the sync', async ({ what, rule }) => {
    const controller = await composite({ customize: related([rule]) }, () => ({ body: { status: {} } }));
    await thing(`rule-${what.replaceAll(' ', '-')}`, controller);
    await waitFor(() => calls(controller.customizePath).length > 0, 'the customize call');
    await staysTrue(() => calls(controller.path).length === 0, 'no sync', 700);
  });
});

describe('finalize', () => {
  it('keeps a deleted parent until the hook says that it is done', async () => {
    let done = false;
    const controller = await composite({ finalize: () => ({ body: { status: {}, finalized: done } }) }, () => ({
      body: { status: { ready: true }, children: [child('last', {})] },
    }));
    await thing('leaving', controller);
    await waitFor(() => admin.find(settings('last')), 'the child');
    const name = `metacontroller.io/compositecontroller-${controller.name}`;
    expect(calls(controller.path)[0].parent.metadata.finalizers).toEqual([name]);
    await admin.remove(thingRef('leaving'));
    await waitFor(() => calls(controller.finalizePath).length > 0, 'the finalize call');
    expect(calls(controller.finalizePath)[0]).toMatchObject({ finalizing: true });
    await waitFor(async () => !(await admin.find(settings('last'))), 'the child, left out now, to be deleted');
    expect((await admin.get(thingRef('leaving'))).metadata.finalizers).toEqual([name]);
    done = true;
    await admin.mergePatch(thingRef('leaving'), { metadata: { annotations: { wake: 'up' } } });
    await waitFor(async () => !(await admin.find(thingRef('leaving'))), 'the parent to go');
  });

  it('is called when an object leaves the selector of a decorator, which then lets it go', async () => {
    const controller = await decorator(
      { finalize: () => ({ body: { annotations: { mark: null }, finalized: true } }) },
      () => ({
        body: { annotations: { mark: 'yes' } },
      }),
    );
    await thing('unselected', controller);
    await waitFor(async () => (await admin.get(thingRef('unselected'))).metadata.annotations?.mark, 'the mark');
    await admin.mergePatch(thingRef('unselected'), { metadata: { labels: { belongs: null } } });
    await waitFor(() => calls(controller.finalizePath).length > 0, 'the finalize call');
    const { metadata } = await waitFor(async () => {
      const object = await admin.get(thingRef('unselected'));
      return !object.metadata.finalizers && object;
    }, 'the finalizer to go');
    expect(metadata.annotations ?? {}).toEqual({});
  });
});
