/** Adds functions of Node 21 that the sources use and Node 20 lacks. Imported for this effect, before anything else. */

function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

Map.groupBy ??= groupBy;
Object.groupBy ??= (<Item, Key extends PropertyKey>(
  items: Iterable<Item>,
  keyOf: (item: Item, index: number) => Key,
) => {
  // The standard's result has no prototype.
  return Object.assign(Object.create(null), Object.fromEntries(groupBy(items, keyOf)));
}) as typeof Object.groupBy;
