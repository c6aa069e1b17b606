/**
 * A limit shared by remote addresses. The address that uses most loses its parts first, so that it can't keep the
 * others out.
 */

/** One use of the limit: a connection, or an arriving body. */
export interface Part {
  address: string;
  /** Whether the part may be dropped in favour of another. */
  mayGiveWay(): boolean;
  /** Called after the part was dropped. */
  giveWay(): void;
}

export interface FairShare {
  /**
   * Enlarges the part. If it doesn't fit, parts of addresses that use as much or more are dropped; false if that isn't
   * enough.
   */
  grow(part: Part, size: number): boolean;
  /** Makes the part the youngest of its address, of which the oldest is dropped first. */
  renew(part: Part): void;
  remove(part: Part): void;
}

export function createFairShare(limit: number, perAddress = limit): FairShare {
  /** Oldest first. */
  const sizes = new Map<Part, number>();
  const ofAddress = new Map<string, number>();
  let total = 0;

  function add(part: Part, size: number): void {
    total += size;
    const sum = (ofAddress.get(part.address) ?? 0) + size;
    if (sum > 0) ofAddress.set(part.address, sum);
    else ofAddress.delete(part.address);
  }

  function remove(part: Part): void {
    add(part, -(sizes.get(part) ?? 0));
    sizes.delete(part);
  }

  /**
   * The part to drop: of the address that uses most, the oldest that may be dropped; undefined without such a part.
   * @param most what the address of `part` would use: an address that uses less keeps its parts
   */
  function partToDrop(part: Part, most: number, onlyOwn: boolean): Part | undefined {
    let next: Part | undefined;
    let least = most;
    for (const each of sizes.keys()) {
      const isOwn = each.address === part.address;
      const has = isOwn ? most : ofAddress.get(each.address)!;
      if (each === part || (onlyOwn && !isOwn) || has < least || (next && has === least)) continue;
      if (!each.mayGiveWay()) continue;
      next = each;
      least = has;
    }
    return next;
  }

  return {
    grow(part, size) {
      if (size === 0) return true;
      while (true) {
        const own = (ofAddress.get(part.address) ?? 0) + size;
        if (own <= perAddress && total + size <= limit) break;
        const next = partToDrop(part, own, own > perAddress);
        if (!next) return false;
        remove(next);
        next.giveWay();
      }
      sizes.set(part, (sizes.get(part) ?? 0) + size);
      add(part, size);
      return true;
    },
    renew(part) {
      const size = sizes.get(part);
      if (size === undefined) return;
      sizes.delete(part);
      sizes.set(part, size);
    },
    remove,
  };
}
