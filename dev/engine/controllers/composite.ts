/**
 * A CompositeController: calls its hook for each parent, creates, updates and deletes the children, then replaces the
 * parent's status.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { claimChildren, isLabelledWith, UID_LABEL } from '../children/claim.ts';
import { desiredGroups, emptyGroups, manageChildren } from '../children/manage.ts';
import { isConflict, isNotFound } from '../cluster/apiClient.ts';
import type { Engine } from '../cluster/engine.ts';
import { parseSyncAnswer, type SyncAnswer } from '../hooks/answers.ts';
import type { CompositeController } from '../hooks/controllerSpec.ts';
import { addObject, describe, type ObjectGroups } from '../json/objects.ts';
import { loopParts, type ParentKind, ParentLoop, type SyncJob } from './parentLoop.ts';

/** Throws when something the controller names is not served (yet). */
export async function compositeLoop(engine: Engine, controller: CompositeController): Promise<ParentLoop> {
  const { parentResource, childResources = [] } = controller.spec;
  const parts = await loopParts(engine, controller, [parentResource], childResources);
  const [{ resource }] = parts.parents as [ParentKind];
  if (!resource.hasStatusSubresource)
    throw new Error(`${resource.name} of ${resource.apiVersion} have no status subresource`);

  const loop: ParentLoop = new ParentLoop(engine, { ...parts, sync, adopters });
  return loop;

  async function sync(job: SyncJob): Promise<void> {
    const { parent } = job;
    const children = await observedChildren(parent);
    const request = { controller, parent, children, related: await job.related(), finalizing: false };
    const answer = parseSyncAnswer('composite', await parts.syncHook.call(request));
    job.resyncAfter(answer.resyncAfterSeconds);
    const desired = desiredGroups(answer.objects, parent);
    labelChildren(parent, desired);
    // The status is written even when a child could not be: the hook's view of the parent is not lost with it.
    const failure = await manageChildren(engine, parts.methods, parent, children, desired).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    await replaceStatus(parent, answer.status);
    if (failure) throw failure.error;
  }

  async function observedChildren(parent: KubeObject): Promise<ObjectGroups> {
    const observed = emptyGroups(parts.children);
    for (const informer of loop.children) {
      const claimed = await claimChildren(engine, { parent, resource }, informer);
      for (const child of claimed) addObject(observed, child);
    }
    return observed;
  }

  function labelChildren(parent: KubeObject, desired: ObjectGroups): void {
    for (const objects of desired.values()) {
      for (const [key, object] of objects) {
        const labels = { [UID_LABEL]: parent.metadata.uid ?? '', ...object.metadata.labels };
        const labelled = { ...object, metadata: { ...object.metadata, labels } };
        if (!isLabelledWith(parent, labelled)) throw new Error(`${describe(object)} has another parent's ${UID_LABEL}`);
        objects.set(key, labelled);
      }
    }
  }

  /** Whatever the hook answered becomes the whole status; nothing answered leaves only the generation. */
  async function replaceStatus(parent: KubeObject, answered: SyncAnswer['status']): Promise<void> {
    const status = { ...answered, observedGeneration: parent.metadata.generation ?? 0 };
    const replaced = (live: KubeObject) => (isDeepStrictEqual(live.status, status) ? undefined : { ...live, status });
    try {
      await engine.client.updateLive(resource, parent, replaced, 'status');
    } catch (error) {
      // Gone, or overtaken by others four times: their change brings the next sync.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  function* adopters(child: KubeObject, parents: Iterable<KubeObject>): Generator<KubeObject> {
    if (child.metadata.labels?.[UID_LABEL] === undefined) return;
    for (const parent of parents) {
      if (isLabelledWith(parent, child)) yield parent;
    }
  }
}
