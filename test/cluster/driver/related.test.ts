/** Requirements of the hooks for their driver: related objects. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { configMap, sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { drivenThings, related } from './drivenThings.ts';

const cluster = sharedCluster();
const { admin, newNamespace } = cluster;
const { namespace: ns, composite, decorator, thing, thingRef, statusOf, settings, calls } = await drivenThings(cluster);

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

  it('a missing kind in a rule fails the sync, as any rule that is refused', async () => {
    const controller = await composite({ customize: related([{ resource: 'nothings' }]) }, () => ({
      body: { status: {} },
    }));
    await thing('rule-of-no-kind', controller);
    await waitFor(() => calls(controller.customizePath).length > 0, 'the customize call');
    await staysTrue(() => calls(controller.path).length === 0, 'no sync', 700);
  });
});
