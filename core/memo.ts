/** A function that evaluates each key once. It keeps all results: for one decision. */
export function once<In, Out>(evaluate: (value: In) => Out, keyOf: (value: In) => string = String): (value: In) => Out {
  const known = new Map<string, Out>();
  return (value) => {
    const key = keyOf(value);
    if (!known.has(key)) known.set(key, evaluate(value));
    return known.get(key)!;
  };
}

/**
 * Remembers results of a pure function, those asked for last. It changes how long an answer takes, never the answer.
 */
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
