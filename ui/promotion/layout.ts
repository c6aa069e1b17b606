/** Stages as graphs: each set of Rollouts that come after one another, laid out from left to right. */
import { graphlib, layout } from '@dagrejs/dagre';
import type { Row } from '../../client/board/row.ts';

export const NODE = { width: 200, height: 78 };

export interface Placed {
  /** Of the Rollouts with which versions begin. */
  title: string;
  width: number;
  height: number;
  nodes: { id: string; x: number; y: number }[];
  edges: { from: string; to: string; points: { x: number; y: number }[] }[];
}

/** `rows`: all. A stage that is not among them, because it does not exist or may not be seen, is a node all the same. */
export function placed(rows: ReadonlyMap<string, Row>): Placed[] {
  const neighbours = new Map<string, Set<string>>();
  const edges: [from: string, to: string][] = [];
  const link = (a: string, b: string) => neighbours.set(a, (neighbours.get(a) ?? new Set()).add(b));
  for (const { id, after } of rows.values()) {
    for (const stage of after) {
      edges.push([stage, id]);
      link(stage, id);
      link(id, stage);
    }
  }
  const seen = new Set<string>();
  const graphs: Placed[] = [];
  for (const id of [...neighbours.keys()].sort()) {
    if (seen.has(id)) continue;
    const together = reachable(id, neighbours);
    for (const each of together) seen.add(each);
    graphs.push(
      place(
        together,
        edges.filter(([from]) => together.has(from)),
      ),
    );
  }
  return graphs;
}

function reachable(start: string, neighbours: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set([start]);
  for (const id of found) for (const next of neighbours.get(id) ?? []) found.add(next);
  return found;
}

function place(ids: ReadonlySet<string>, edges: readonly (readonly [string, string])[]): Placed {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 56, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const targets = new Set(edges.map(([, to]) => to));
  const first = [...ids].filter((id) => !targets.has(id));
  return {
    title: first.slice(0, 3).join(', ') || [...ids][0] || '',
    width,
    height,
    nodes: [...ids].map((id) => {
      const { x, y } = graph.node(id) as { x: number; y: number };
      return { id, x: x - NODE.width / 2, y: y - NODE.height / 2 };
    }),
    // From side to side: where dagre lets an edge leave a wide node is often its corner.
    edges: edges.map(([from, to]) => {
      const [a, b] = [graph.node(from), graph.node(to)] as { x: number; y: number }[];
      const points = [
        { x: a!.x + NODE.width / 2, y: a!.y },
        { x: b!.x - NODE.width / 2, y: b!.y },
      ];
      return { from, to, points };
    }),
  };
}
