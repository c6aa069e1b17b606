interface Entry<Value> {
  value: Value;
  bytes: number;
}

/** A map with limits of entries and bytes, which evicts the least recently used entry. */
export class Lru<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #limit: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limit: number, maxBytes = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry) this.set(key, entry.value, entry.bytes);
    return entry?.value;
  }

  set(key: string, value: Value, bytes = 0): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit && this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  deleteWhere(isUnused: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isUnused(value)) this.delete(key);
  }
}
