/** Remembers results of a pure function, those asked for last. It changes how long an answer takes, never the answer. */
export class Memo<Value> {
  readonly #size: number;
  /** The one asked for last comes last. */
  readonly #known = new Map<string, Value>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string, make: () => Value): Value {
    const value = this.#known.has(key) ? this.#known.get(key)! : make();
    this.#known.delete(key);
    this.#known.set(key, value);
    if (this.#known.size > this.#size) this.#known.delete(this.#known.keys().next().value!);
    return value;
  }
}
