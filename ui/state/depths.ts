/** The number of stages before each one, on the longest path. A cycle counts as ending where it begins. */
export function depthsOf(edges: readonly { from: string; to: string }[]): Map<string, number> {
  const before = Map.groupBy(edges, ({ to }) => to);
  const found = new Map<string, number>();
  const visit = (id: string, way: Set<string>): number => {
    const known = found.get(id);
    if (known !== undefined) return known;
    if (way.has(id)) return 0;
    way.add(id);
    const depth = Math.max(-1, ...(before.get(id) ?? []).map(({ from }) => visit(from, way))) + 1;
    way.delete(id);
    found.set(id, depth);
    return depth;
  };
  for (const { from, to } of edges) {
    visit(from, new Set());
    visit(to, new Set());
  }
  return found;
}
