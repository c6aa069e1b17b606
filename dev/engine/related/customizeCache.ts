/** Customize answers by parent uid and generation. What moves neither, an annotation for one, does not refresh them. */
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';

interface Entry<Answer> {
  uid: string;
  generation: number;
  answer: Answer;
  expiresAt: EpochMs;
}

/** Metacontroller's own. */
const TTL_MS = 20 * 60_000;

export class CustomizeCache<Answer> {
  /** By parent key, oldest first: an entry that is renewed moves to the end. */
  readonly #entries = new Map<string, Entry<Answer>>();

  get(key: string, parent: KubeObject, now: EpochMs): Answer | undefined {
    const entry = this.#entries.get(key);
    const { uid = '', generation = 0 } = parent.metadata;
    if (!entry || entry.uid !== uid || entry.generation !== generation) return undefined;
    return now < entry.expiresAt ? entry.answer : undefined;
  }

  set(key: string, parent: KubeObject, answer: Answer, now: EpochMs): void {
    const { uid = '', generation = 0 } = parent.metadata;
    this.#entries.delete(key);
    this.#entries.set(key, { uid, generation, answer, expiresAt: now + TTL_MS });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Keys of parents whose answer has run out and was not renewed. */
  expired(now: EpochMs): string[] {
    const keys: string[] = [];
    for (const [key, { expiresAt }] of this.#entries) {
      if (now < expiresAt) break;
      keys.push(key);
    }
    return keys;
  }
}
