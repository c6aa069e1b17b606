/** The layout of a pipeline's stages, from left to right. */
import { graphlib, layout } from '@dagrejs/dagre';
import type { Edge, Pipeline } from './pipelines.ts';

export const NODE = { width: 236, height: 132 };

interface Point {
  x: number;
  y: number;
}

export interface Placed {
  width: number;
  height: number;
  nodes: ({ key: string } & Point)[];
  edges: (Edge & { begin: Point; end: Point })[];
}

export function placeStages({ stages, edges }: Pick<Pipeline, 'stages' | 'edges'>): Placed {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 56, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const key of stages) graph.setNode(key, { ...NODE });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const at = (key: string) => graph.node(key) as Point;
  return {
    width,
    height,
    nodes: stages.map((key) => ({ key, x: at(key).x - NODE.width / 2, y: at(key).y - NODE.height / 2 })),
    // dagre often puts the end of an edge at the corner of a wide node; here it is in the middle of the side.
    edges: edges.map((edge) => ({
      ...edge,
      begin: { x: at(edge.from).x + NODE.width / 2, y: at(edge.from).y },
      end: { x: at(edge.to).x - NODE.width / 2, y: at(edge.to).y },
    })),
  };
}
