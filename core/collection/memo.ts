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

/** The function, evaluated once for each object, which must not change. No result outlives its object. */
export function memoizeByObject<In extends object, Out extends object>(evaluate: (object: In) => Out) {
  const known = new WeakMap<In, Out>();
  return (object: In): Out => {
    let found = known.get(object);
    if (found === undefined) {
      found = evaluate(object);
      known.set(object, found);
    }
    return found;
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
