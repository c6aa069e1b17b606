/** The customize hook of a controller: its rules, the related objects, and syncs of parents when these change. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Engine } from '../cluster/engine.ts';
import type { Informer } from '../cluster/informer.ts';
import { parseCustomizeAnswer, type RelatedRule } from '../hooks/answers.ts';
import type { HookClient } from '../hooks/hookClient.ts';
import { addGroup, addObject, type ObjectGroups } from '../json/objects.ts';
import { reasonOf } from '../runtime/log.ts';
import { CustomizeCache } from './customizeCache.ts';
import { type CompiledRule, compileRule, type NamespaceLabels, select } from './relatedRule.ts';

/** Thrown while a related resource is being listed. The sync is retried soon, without a message. */
export class NotSyncedError extends Error {}

interface Answer {
  rules: RelatedRule[];
  /** Compiled at the first use, and retried after an error: a rule may name a resource whose CRD is installed later. */
  compiled?: CompiledRule[];
}

interface CustomizeParts {
  hook: HookClient | undefined;
  controller: KubeObject;
  parent(key: string): KubeObject | undefined;
  enqueue(key: string): void;
}

export class Customize {
  readonly #engine: Engine;
  readonly #parts: CustomizeParts;
  readonly #cache = new CustomizeCache<Answer>();
  /** Rules by parent key. */
  readonly #rules = new Map<string, readonly CompiledRule[]>();
  readonly #asked = new Map<string, Promise<Answer>>();
  readonly #subscribed = new Map<Informer, () => void>();
  #namespaces: Informer | undefined;

  constructor(engine: Engine, parts: CustomizeParts) {
    this.#engine = engine;
    this.#parts = parts;
  }

  /** Throws NotSyncedError while a related resource is being listed; any other error fails the sync. */
  async relatedOf(key: string, parent: KubeObject): Promise<ObjectGroups> {
    const related: ObjectGroups = new Map();
    if (!this.#parts.hook) return related;
    const rules = await this.#rulesOf(this.#parts.hook, key, parent);
    const informers = await Promise.all(rules.map((rule) => this.#informerOf(rule)));
    if (rules.some((rule) => rule.usesNamespaceSelector)) await this.#watchNamespaces();
    const late = [...informers, this.#namespaces].find((informer) => informer?.synced === false);
    if (late) throw new NotSyncedError(`${late.resource.name} are still being listed`);
    for (const [index, rule] of rules.entries()) {
      const { resource, store } = informers[index]!;
      addGroup(related, resource.apiVersion, resource.kind);
      for (const object of select(rule, store, this.#namespaceLabels)) addObject(related, object);
    }
    return related;
  }

  /** Deletes the answer for a parent that is gone. */
  forget(key: string): void {
    this.#cache.delete(key);
    this.#rules.delete(key);
  }

  stop(): void {
    for (const unsubscribe of this.#subscribed.values()) unsubscribe();
    this.#subscribed.clear();
  }

  async #rulesOf(hook: HookClient, key: string, parent: KubeObject): Promise<CompiledRule[]> {
    const answer = this.#cache.get(key, parent, this.#engine.clock.now()) ?? (await this.#ask(hook, key, parent));
    if (!answer.compiled) {
      answer.compiled = await Promise.all(
        answer.rules.map(async (rule) => {
          return compileRule(rule, await this.#engine.client.resource(rule.apiVersion, { name: rule.resource }));
        }),
      );
      // Rules of an older generation must not replace newer ones, nor those of a deleted parent stay forever.
      if (isSame(parent, this.#parts.parent(key))) this.#rules.set(key, answer.compiled);
    }
    return answer.compiled;
  }

  #ask(hook: HookClient, key: string, parent: KubeObject): Promise<Answer> {
    const { uid, generation } = parent.metadata;
    const question = `${key} ${uid} ${generation}`;
    const asked = this.#asked.get(question);
    if (asked) return asked;
    const asking = hook
      .call({ controller: this.#parts.controller, parent })
      .then((body) => {
        const answer: Answer = { rules: parseCustomizeAnswer(body) };
        this.#cache.set(key, parent, answer, this.#engine.clock.now());
        return answer;
      })
      .finally(() => this.#asked.delete(question));
    this.#asked.set(question, asking);
    return asking;
  }

  async #informerOf({ apiVersion, resource: name }: CompiledRule): Promise<Informer> {
    const informer = this.#engine.informer(await this.#engine.client.resource(apiVersion, { name }));
    if (this.#subscribed.has(informer)) return informer;
    const unsubscribe = informer.subscribe({
      added: (object) => this.#relatedChanged(informer, object),
      updated: (old, current) => {
        if (old.metadata.resourceVersion !== current.metadata.resourceVersion) {
          this.#relatedChanged(informer, old, current);
        }
      },
      removed: (last) => this.#relatedChanged(informer, last),
    });
    this.#subscribed.set(informer, unsubscribe);
    return informer;
  }

  async #watchNamespaces(): Promise<void> {
    // No subscription: a label that changes on a Namespace triggers no sync.
    this.#namespaces ??= this.#engine.informer(await this.#engine.client.resource('v1', { name: 'namespaces' }));
  }

  readonly #namespaceLabels: NamespaceLabels = (namespace) => {
    const object = this.#namespaces?.store.get(namespace);
    return object ? object.metadata.labels : null;
  };

  /** Triggers a sync of each parent with a rule that matches the object as it was or as it is. */
  #relatedChanged({ resource: { apiVersion, name } }: Informer, ...versions: KubeObject[]): void {
    for (const [key, rules] of this.#rules) {
      if (this.#concerns(rules, apiVersion, name, versions)) this.#parts.enqueue(key);
    }
    for (const key of this.#cache.expired(this.#engine.clock.now())) this.#askAgain(key, apiVersion, name, versions);
  }

  /** Whether a rule matches one of the versions of an object of the resource. */
  #concerns(rules: readonly CompiledRule[], apiVersion: string, name: string, versions: KubeObject[]): boolean {
    return rules
      .filter((rule) => rule.apiVersion === apiVersion && rule.resource === name)
      .some((rule) => versions.some((object) => rule.matches(object, this.#namespaceLabels)));
  }

  /** Renews an expired answer at the next related event, whose object the new rules may match. */
  #askAgain(key: string, apiVersion: string, name: string, versions: KubeObject[]): void {
    const parent = this.#parts.parent(key);
    if (!parent || !this.#parts.hook) {
      this.forget(key);
      return;
    }
    this.#rulesOf(this.#parts.hook, key, parent)
      .then((rules) => {
        if (this.#concerns(rules, apiVersion, name, versions)) this.#parts.enqueue(key);
      })
      .catch((error: unknown) => {
        this.#engine.log.info('customize failed after its answer ran out', { parent: key, error: reasonOf(error) });
      });
  }
}

function isSame(parent: KubeObject, current: KubeObject | undefined): boolean {
  const { uid, generation } = parent.metadata;
  return current?.metadata.uid === uid && current?.metadata.generation === generation;
}
