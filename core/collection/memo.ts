/** The function, evaluated once for each key. It keeps all results, so use it within one decision. */
export function memoize<In, Out>(
  evaluate: (value: In) => Out,
  keyOf: (value: In) => string = String,
): (value: In) => Out {
  const known = new Map<string, Out>();
  return (value) => {
    const key = keyOf(value);
    if (!known.has(key)) known.set(key, evaluate(value));
    return known.get(key)!;
  };
}

/** A cache of a pure function's results, which evicts the least recently used ones. */
export class Memo<Value> {
  readonly #size: number;
  /** The most recently used key comes last. */
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
