/** One CompositeController: calls its hook for each parent, makes the children so, then replaces the parent's status. */
import type { KubeObject, LabelSelector } from '../../api/kubernetes.ts';
import { parseCompositeAnswer, type SyncAnswer } from './answers.ts';
import { isConflict, isNotFound } from './apiClient.ts';
import { desiredGroups, emptyGroups, manageChildren, updateMethods } from './children.ts';
import { claimChildren } from './claim.ts';
import type { CompositeController } from './controllerSpec.ts';
import type { Engine } from './engine.ts';
import { Finalizer } from './finalizer.ts';
import { hookClient } from './hookClient.ts';
import { jsonEqual } from './json.ts';
import { liveUpdate } from './liveUpdate.ts';
import { addObject, describe, groupsText, jsonText, type ObjectGroups } from './objects.ts';
import { ParentLoop, type SyncJob } from './parentLoop.ts';
import { type CompiledSelector, compileSelector } from './selector.ts';

const UID_LABEL = 'controller-uid';

/** Throws when something the controller names is not served (yet), or when it asks for what the engine does not do. */
export async function compositeLoop(engine: Engine, controller: CompositeController): Promise<ParentLoop> {
  const { parentResource, childResources = [], hooks = {}, generateSelector = false, ...spec } = controller.spec;
  const resource = await engine.discovery.resource(parentResource.apiVersion, parentResource.resource);
  if (!resource.hasStatusSubresource)
    throw new Error(`${resource.name} of ${resource.apiVersion} have no status subresource`);
  const children = await Promise.all(childResources.map((c) => engine.discovery.resource(c.apiVersion, c.resource)));
  const methods = updateMethods(childResources, children);
  const syncHook = await hookClient('sync', hooks.sync, engine, spec.endpointConfigs);
  const finalizeHook = await hookClient('finalize', hooks.finalize, engine, spec.endpointConfigs);
  const finalizer = new Finalizer(
    engine,
    `metacontroller.io/compositecontroller-${controller.metadata.name}`,
    hooks.finalize !== undefined,
  );
  const selected = compileSelector(parentResource.labelSelector);
  const isSelected = (parent: KubeObject) => selected.matches(parent.metadata.labels);
  const concerns = (parent: KubeObject) => finalizer.isOn(parent) || isSelected(parent);
  const controllerText = jsonText(controller);

  const loop: ParentLoop = new ParentLoop(engine, {
    name: `CompositeController ${controller.metadata.name}`,
    controllerText,
    customizeHook: await hookClient('customize', hooks.customize, engine, spec.endpointConfigs),
    parents: [{ resource, ignoreStatusChanges: parentResource.ignoreStatusChanges ?? false, concerns }],
    children,
    resyncPeriodSeconds: spec.resyncPeriodSeconds,
    sync,
    adopters,
  });
  return loop;

  async function sync(job: SyncJob): Promise<void> {
    let parent = await finalizer.ensure(resource, job.parent);
    if (!concerns(parent)) return;
    const selector = childSelector(parent, generateSelector);
    const observed = await observedChildren(parent, selector);
    const related = await job.related();
    const answer = await callHook(parent, observed, related);
    job.resyncAfter(answer.resyncAfterSeconds);
    if (answer.finalized) parent = await finalizer.remove(resource, parent);
    const desired = desiredGroups(answer.objects, parent);
    labelChildren(parent, desired, selector);
    // The status is written even when a child could not be: the hook's view of the parent is not lost with it.
    const failure = finalizer.managesChildren(parent)
      ? await manageChildren(engine, methods, parent, observed, desired).then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
      : undefined;
    await replaceStatus(parent, answer.status);
    if (failure) throw failure.error;
  }

  async function observedChildren(parent: KubeObject, selector: CompiledSelector): Promise<ObjectGroups> {
    const observed = emptyGroups(children);
    for (const informer of loop.children) {
      const claimed = await claimChildren(engine, { parent, resource, selector }, informer);
      for (const child of claimed) addObject(observed, child);
    }
    return observed;
  }

  async function callHook(parent: KubeObject, observed: ObjectGroups, related: ObjectGroups): Promise<SyncAnswer> {
    const leaving = parent.metadata.deletionTimestamp !== undefined || !isSelected(parent);
    const finalizing = finalizeHook !== undefined && leaving;
    const hook = finalizing ? finalizeHook : syncHook;
    if (!hook) throw new Error('no sync hook is defined');
    const body = await hook.call(
      `{"controller":${controllerText},"parent":${jsonText(parent)},"children":${groupsText(observed)},` +
        `"related":${groupsText(related)},"finalizing":${finalizing}}`,
    );
    return parseCompositeAnswer(body, hook.strict);
  }

  function labelChildren(parent: KubeObject, desired: ObjectGroups, selector: CompiledSelector): void {
    for (const objects of desired.values()) {
      for (const [key, object] of objects) {
        const uid = { [UID_LABEL]: parent.metadata.uid ?? '' };
        const labels = generateSelector ? { ...uid, ...object.metadata.labels } : object.metadata.labels;
        if (!selector.matches(labels))
          throw new Error(`labels of ${describe(object)} do not match its parent's selector`);
        objects.set(key, labels ? { ...object, metadata: { ...object.metadata, labels } } : object);
      }
    }
  }

  /** Whatever the hook answered becomes the whole status; nothing answered leaves only the generation. */
  async function replaceStatus(parent: KubeObject, answered: SyncAnswer['status']): Promise<void> {
    const status = { ...answered, observedGeneration: parent.metadata.generation ?? 0 };
    try {
      await liveUpdate(
        engine.client,
        engine.clock,
        resource,
        parent,
        (live) => (jsonEqual(live.status, status) ? undefined : { ...live, status }),
        'status',
      );
    } catch (error) {
      // Gone, or overtaken by others four times: their change brings the next sync.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  function* adopters(child: KubeObject, parents: Iterable<KubeObject>): Generator<KubeObject> {
    if (generateSelector && child.metadata.labels?.[UID_LABEL] === undefined) return;
    for (const parent of parents) {
      if (wouldAdopt(parent, child)) yield parent;
    }
  }

  function wouldAdopt(parent: KubeObject, child: KubeObject): boolean {
    if (generateSelector) return child.metadata.labels?.[UID_LABEL] === parent.metadata.uid;
    try {
      return childSelector(parent, false).matches(child.metadata.labels);
    } catch {
      // The parent's own sync reports what is wrong with its selector.
      return false;
    }
  }
}

/** Throws when the parent should have a selector and has none, or an empty one, which would select everything. */
function childSelector(parent: KubeObject, generated: boolean): CompiledSelector {
  if (generated) return compileSelector({ matchLabels: { [UID_LABEL]: parent.metadata.uid ?? '' } });
  const selector = parent.spec?.selector as LabelSelector | undefined;
  const empty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  if (empty) throw new Error(`spec.selector of ${describe(parent)} has neither matchLabels nor matchExpressions`);
  return compileSelector(selector);
}
