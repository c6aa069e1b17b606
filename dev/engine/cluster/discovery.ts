/** Which resources the API server serves, read per group and version when first needed. */
import type { ApiResource } from '../../../server/cluster/discovery.ts';
import { versionPath } from '../../../server/cluster/paths.ts';
import type { Resource as NamedResource } from '../../client/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import { type ApiClient, isNotFound } from './apiClient.ts';

export interface Resource extends NamedResource {
  hasStatusSubresource: boolean;
}

interface Answer {
  readAt: number;
  resources: Promise<Resource[]>;
}

/** A resource that is not there is asked for again after this time: its CRD may have been installed since. */
const NOT_FOUND_MS = 1000;
const FOUND_MS = 30_000;

export class Discovery {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #answers = new Map<string, Answer>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** By plural name. Throws when the server does not serve it. */
  resource(apiVersion: string, name: string): Promise<Resource> {
    return this.#find(apiVersion, `resource ${JSON.stringify(name)}`, (resource) => resource.name === name);
  }

  /** By kind. Throws when the server does not serve it. */
  kind(apiVersion: string, kind: string): Promise<Resource> {
    return this.#find(apiVersion, `kind ${JSON.stringify(kind)}`, (resource) => resource.kind === kind);
  }

  async #find(apiVersion: string, what: string, test: (resource: Resource) => boolean): Promise<Resource> {
    let answer = this.#read(apiVersion, FOUND_MS);
    let found = (await answer.resources).find(test);
    if (!found) {
      answer = this.#read(apiVersion, NOT_FOUND_MS);
      found = (await answer.resources).find(test);
    }
    if (!found) throw new Error(`discovery: the API server has no ${what} in ${apiVersion}`);
    return found;
  }

  #read(apiVersion: string, maxAgeMs: number): Answer {
    const now = this.#clock.now();
    const known = this.#answers.get(apiVersion);
    if (known && now - known.readAt < maxAgeMs) return known;
    const answer: Answer = { readAt: now, resources: this.#request(apiVersion) };
    this.#answers.set(apiVersion, answer);
    answer.resources.catch(() => {
      if (this.#answers.get(apiVersion) === answer) this.#answers.delete(apiVersion);
    });
    return answer;
  }

  async #request(apiVersion: string): Promise<Resource[]> {
    try {
      const list = await this.#client.get<{ resources: ApiResource[] }>(versionPath(apiVersion));
      const served = new Set(list.resources.map(({ name }) => name));
      return list.resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, kind, namespaced }) => ({
          apiVersion,
          name,
          kind,
          namespaced,
          hasStatusSubresource: served.has(`${name}/status`),
        }));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}
