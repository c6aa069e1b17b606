/**
 * A DecoratorController: calls its hook for each object, writes status, labels and annotations, then the attachments.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Resource } from '../../client/resources.ts';
import { desiredGroups, emptyGroups, manageChildren } from '../children/manage.ts';
import { isConflict, isNotFound } from '../cluster/apiClient.ts';
import type { Engine } from '../cluster/engine.ts';
import { parseSyncAnswer, type SyncAnswer } from '../hooks/answers.ts';
import type { DecoratorController } from '../hooks/controllerSpec.ts';
import { addObject, type ObjectGroups } from '../json/objects.ts';
import { loopParts, ParentLoop, type SyncJob } from './parentLoop.ts';

/** Marks attachments with the name of their controller: several decorators may attach the same kind to one object. */
const DECORATOR_ANNOTATION = 'metacontroller.k8s.io/decorator-controller';

/** Throws when something the controller names is not served (yet). */
export async function decoratorLoop(engine: Engine, controller: DecoratorController): Promise<ParentLoop> {
  const { resources, attachments = [] } = controller.spec;
  const parts = await loopParts(engine, controller, resources, attachments);
  const name = controller.metadata.name ?? '';

  const loop: ParentLoop = new ParentLoop(engine, { ...parts, sync });
  return loop;

  async function sync(job: SyncJob): Promise<void> {
    const { parent, kind } = job;
    const observed = observedAttachments(parent);
    const request = {
      controller,
      object: parent,
      attachments: observed,
      related: await job.related(),
      finalizing: false,
    };
    const answer = parseSyncAnswer('decorator', await parts.syncHook.call(request));
    job.resyncAfter(answer.resyncAfterSeconds);
    const done = await decorate(kind.resource, parent, answer);
    if (!done) return;
    await manageChildren(engine, parts.methods, parent, observed, marked(desiredGroups(answer.objects, parent)));
  }

  function observedAttachments(parent: KubeObject): ObjectGroups {
    const observed = emptyGroups(parts.children);
    for (const { store } of loop.children) {
      for (const object of store.ownedBy(parent.metadata.uid, parent.metadata.namespace)) {
        if (object.metadata.annotations?.[DECORATOR_ANNOTATION] === name) addObject(observed, object);
      }
    }
    return observed;
  }

  /**
   * Writes what the answer changes, with the resourceVersion of the cached object. False when that was overtaken by
   * another write or the object is gone: nothing more is done then, and nothing is retried, until the next event.
   */
  async function decorate(resource: Resource, parent: KubeObject, answer: SyncAnswer): Promise<boolean> {
    const labels = changed(parent.metadata.labels, answer.labels);
    const annotations = changed(parent.metadata.annotations, answer.annotations);
    const newStatus = answer.status !== undefined && !isDeepStrictEqual(parent.status, answer.status);
    if (!labels && !annotations && !newStatus) return true;
    let update: KubeObject = {
      ...parent,
      metadata: {
        ...parent.metadata,
        labels: labels ?? parent.metadata.labels,
        annotations: annotations ?? parent.metadata.annotations,
      },
      status: answer.status ?? parent.status,
    };
    try {
      if (newStatus && resource.hasStatusSubresource) {
        const { metadata } = await engine.client.update(resource, update, 'status');
        update = { ...update, metadata: { ...update.metadata, resourceVersion: metadata.resourceVersion } };
      }
      await engine.client.update(resource, update);
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  function marked(desired: ObjectGroups): ObjectGroups {
    for (const objects of desired.values()) {
      for (const [key, object] of objects) {
        const annotations = { ...object.metadata.annotations, [DECORATOR_ANNOTATION]: name };
        objects.set(key, { ...object, metadata: { ...object.metadata, annotations } });
      }
    }
    return desired;
  }
}

/** The map with the answered keys set, or removed where null; undefined when that changes nothing. */
function changed(
  current: Record<string, string> | undefined,
  answered: Record<string, string | null>,
): Record<string, string> | undefined {
  const result = { ...current };
  let differs = false;
  for (const [key, value] of Object.entries(answered)) {
    if (value === (result[key] ?? null)) continue;
    differs = true;
    if (value === null) delete result[key];
    else result[key] = value;
  }
  return differs ? result : undefined;
}
