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
  const edges = [...rows.values()].flatMap(({ id, after }) => after.map((stage) => [stage, id] as const));
  const all = new graphlib.Graph();
  for (const [from, to] of edges) all.setEdge(from, to);
  return (graphlib.alg.components(all) as string[][])
    .map((ids) => ids.sort())
    .sort(([a = ''], [b = '']) => a.localeCompare(b))
    .map((ids) =>
      place(
        ids,
        edges.filter(([from]) => ids.includes(from)),
      ),
    );
}

function place(ids: readonly string[], edges: readonly (readonly [string, string])[]): Placed {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 56, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const targets = new Set(edges.map(([, to]) => to));
  const first = ids.filter((id) => !targets.has(id));
  return {
    title: first.slice(0, 3).join(', ') || ids[0] || '',
    width,
    height,
    nodes: ids.map((id) => {
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
