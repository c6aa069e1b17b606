/** One DecoratorController: calls its hook for each object, writes status, labels and annotations, then the attachments. */
import type { KubeObject } from '../../api/kubernetes.ts';
import { parseDecoratorAnswer, type SyncAnswer } from './answers.ts';
import { isConflict, isNotFound } from './apiClient.ts';
import { desiredGroups, emptyGroups, manageChildren, updateMethods } from './children.ts';
import type { DecoratedRule, DecoratorController } from './controllerSpec.ts';
import type { Resource } from './discovery.ts';
import type { Engine } from './engine.ts';
import { Finalizer } from './finalizer.ts';
import { hookClient } from './hookClient.ts';
import { jsonEqual } from './json.ts';
import { addObject, groupsText, jsonText, type ObjectGroups } from './objects.ts';
import { type ParentKind, ParentLoop, type SyncJob } from './parentLoop.ts';
import { compileSelector } from './selector.ts';

/** Marks attachments with the name of their controller: several decorators may attach the same kind to one object. */
const DECORATOR_ANNOTATION = 'metacontroller.k8s.io/decorator-controller';

interface DecoratedKind extends ParentKind {
  selects(object: KubeObject): boolean;
}

/** Throws when something the controller names is not served (yet), or when it asks for what the engine does not do. */
export async function decoratorLoop(engine: Engine, controller: DecoratorController): Promise<ParentLoop> {
  const { resources, attachments = [], hooks = {}, ...spec } = controller.spec;
  const name = controller.metadata.name ?? '';
  const finalizer = new Finalizer(
    engine,
    `metacontroller.io/decoratorcontroller-${name}`,
    hooks.finalize !== undefined,
  );
  const decorated = await Promise.all(
    resources.map(async (rule) =>
      decoratedKind(rule, await engine.discovery.resource(rule.apiVersion, rule.resource), finalizer),
    ),
  );
  const children = await Promise.all(attachments.map((a) => engine.discovery.resource(a.apiVersion, a.resource)));
  const methods = updateMethods(attachments, children);
  const syncHook = await hookClient('sync', hooks.sync, engine, spec.endpointConfigs);
  const finalizeHook = await hookClient('finalize', hooks.finalize, engine, spec.endpointConfigs);
  const controllerText = jsonText(controller);

  const loop: ParentLoop = new ParentLoop(engine, {
    name: `DecoratorController ${name}`,
    controllerText,
    customizeHook: await hookClient('customize', hooks.customize, engine, spec.endpointConfigs),
    parents: decorated,
    children,
    resyncPeriodSeconds: spec.resyncPeriodSeconds,
    sync: (job) => sync(job, job.kind as DecoratedKind),
  });
  return loop;

  async function sync(job: SyncJob, kind: DecoratedKind): Promise<void> {
    const parent = await finalizer.ensure(kind.resource, job.parent);
    if (!kind.concerns(parent)) return;
    const observed = observedAttachments(parent);
    const related = await job.related();
    const leaving = parent.metadata.deletionTimestamp !== undefined || !kind.selects(parent);
    const answer = await callHook(parent, leaving, observed, related);
    job.resyncAfter(answer.resyncAfterSeconds);
    const done = await decorate(kind.resource, parent, answer);
    if (!done || !finalizer.managesChildren(parent)) return;
    await manageChildren(engine, methods, parent, observed, marked(desiredGroups(answer.objects, parent)));
  }

  function observedAttachments(parent: KubeObject): ObjectGroups {
    const observed = emptyGroups(children);
    for (const { store } of loop.children) {
      for (const object of store.ownedBy(parent.metadata.uid, parent.metadata.namespace)) {
        if (object.metadata.annotations?.[DECORATOR_ANNOTATION] === name) addObject(observed, object);
      }
    }
    return observed;
  }

  async function callHook(
    object: KubeObject,
    leaving: boolean,
    observed: ObjectGroups,
    related: ObjectGroups,
  ): Promise<SyncAnswer> {
    const finalizing = finalizeHook !== undefined && leaving;
    const hook = finalizing ? finalizeHook : syncHook;
    if (!hook) throw new Error('no sync hook is defined');
    const body = await hook.call(
      `{"controller":${controllerText},"object":${jsonText(object)},"attachments":${groupsText(observed)},` +
        `"related":${groupsText(related)},"finalizing":${finalizing}}`,
    );
    return parseDecoratorAnswer(body, hook.strict);
  }

  /**
   * Writes what the answer changes, with the resourceVersion of the cached object. False when that was overtaken by
   * another write or the object is gone: nothing more is done then, and nothing is retried, until the next event.
   */
  async function decorate(resource: Resource, parent: KubeObject, answer: SyncAnswer): Promise<boolean> {
    const labels = changed(parent.metadata.labels, answer.labels);
    const annotations = changed(parent.metadata.annotations, answer.annotations);
    const newStatus = answer.status !== undefined && !jsonEqual(parent.status, answer.status);
    const finalized = answer.finalized && finalizer.isOn(parent);
    if (!labels && !annotations && !newStatus && !finalized) return true;
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
      await engine.client.update(resource, answer.finalized ? finalizer.without(update) : update);
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

function decoratedKind(rule: DecoratedRule, resource: Resource, finalizer: Finalizer): DecoratedKind {
  const labels = compileSelector(rule.labelSelector);
  const annotations = compileSelector({
    matchLabels: rule.annotationSelector?.matchAnnotations,
    matchExpressions: rule.annotationSelector?.matchExpressions,
  });
  const selects = ({ metadata }: KubeObject) =>
    labels.matches(metadata.labels) && annotations.matches(metadata.annotations);
  return {
    resource,
    ignoreStatusChanges: rule.ignoreStatusChanges ?? false,
    selects,
    concerns: (object) => finalizer.isOn(object) || selects(object),
  };
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
