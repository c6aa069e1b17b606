/** Pipelines: Rollouts that versions pass one after another, and the progress of each version. */
import { graphlib } from '@dagrejs/dagre';
import { type Row, rowKey, trackTone } from '../../client/board/row.ts';
import type { Outcome } from '../../client/explain/application.ts';
import { depthsOf } from '../state/depths.ts';

/** The rows by key. */
type Rows = ReadonlyMap<string, Row>;

/** An edge from a stage to the next one: by `spec.after`, or by a copy into the image of the next one. */
export interface Edge {
  from: string;
  to: string;
  isCopy?: true;
}

export interface Pipeline {
  /** The ids of the first stages, with their clusters if there are several. */
  title: string;
  /** The keys of the stages, in order. A stage without a row doesn't exist, or the reader can't read it. */
  stages: string[];
  edges: Edge[];
}

/** The pipelines, by title: stages that are connected, or deploy the same image in several clusters. */
export function pipelinesOf(rows: Rows): Pipeline[] {
  const edges = edgesOf(rows);
  const graph = new graphlib.Graph();
  for (const { from, to } of edges) graph.setEdge(from, to);
  for (const [first, ...others] of acrossClusters(rows)) for (const other of others) graph.setEdge(first!, other);
  const depths = depthsOf(edges);
  const rank = (key: string) => depths.get(key) ?? 0;
  return (graphlib.alg.components(graph) as string[][])
    .map((keys): Pipeline => {
      const own = new Set(keys);
      const stages = keys.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
      const first = stages.filter((key) => rank(key) === 0);
      return {
        title: titleOf(first.length > 0 ? first : stages),
        stages,
        edges: edges.filter(({ from }) => own.has(from)),
      };
    })
    .sort((a, b) => a.title.localeCompare(b.title));
}

function edgesOf(rows: Rows): Edge[] {
  const byImage = Map.groupBy(rows, ([, { image }]) => image ?? '');
  return [...rows].flatMap(([key, { cluster, after, copiesTo }]) => [
    ...after.map((id): Edge => ({ from: rowKey({ cluster, id }), to: key })),
    ...(copiesTo ? (byImage.get(copiesTo) ?? []) : []).map(([to]): Edge => ({ from: key, to, isCopy: true })),
  ]);
}

/** The groups of stages that deploy the same image in several clusters. */
function acrossClusters(rows: Rows): string[][] {
  const images = Map.groupBy(
    [...rows].filter(([, { cluster, image }]) => cluster !== undefined && image !== undefined),
    ([, { image }]) => image,
  );
  return [...images.values()]
    .filter((found) => new Set(found.map(([, { cluster }]) => cluster)).size > 1)
    .map((found) => found.map(([key]) => key));
}

/** The cluster and id of a key. A cluster's name may have spaces. */
export function partsOf(key: string): { cluster: string | undefined; id: string } {
  const end = key.lastIndexOf(' ');
  return { cluster: end < 0 ? undefined : key.slice(0, end), id: key.slice(end + 1) };
}

function titleOf(keys: readonly string[]): string {
  const parts = keys.map(partsOf);
  const few = (texts: readonly (string | undefined)[]) => [...new Set(texts)].filter(Boolean).slice(0, 3).join(', ');
  const clusters = few(parts.map(({ cluster }) => cluster));
  return few(parts.map(({ id }) => id)) + (clusters && ` (${clusters})`);
}

/** Whether each word of `q` is in a name, version or image of the pipeline. */
export function hasWords({ stages }: Pipeline, rows: Rows, q: string): boolean {
  const texts = stages.flatMap((key) => {
    const { image, runs, waits } = rows.get(key) ?? {};
    return [key, image, runs?.version, waits];
  });
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => texts.some((text) => text?.toLowerCase().includes(word)));
}

/** A version at a stage. `waits`: a candidate. `runs`: the newest deployment. `ran`: an earlier deployment. */
export interface Cell {
  is: 'waits' | 'runs' | 'ran';
  outcome?: Outcome;
  at?: string;
}

/** The version at a stage; undefined if it has not reached the stage. */
export function cellOf({ waits, runs, strip, since }: Row, version: string): Cell | undefined {
  if (waits === version) return { is: 'waits', ...(since && { at: since }) };
  if (runs?.version === version) return { is: 'runs', outcome: runs.outcome, at: runs.endedAt ?? runs.at };
  const last = strip.findLast((each) => each.version === version);
  return last && { is: 'ran', outcome: last.outcome, at: last.at };
}

/** The most versions that are shown besides those that run or wait. */
const MAX_PAST = 5;

/** The versions of the stages, newest first: by the first deployment to one of them. */
export function versionsOf(stages: readonly Row[]): string[] {
  const first = new Map<string, string>();
  const current = new Set<string>();
  const note = (version: string, at: string) => {
    const before = first.get(version);
    if (before === undefined || at < before) first.set(version, at);
  };
  for (const { waits, runs, strip, since } of stages) {
    for (const { version, at } of strip) note(version, at);
    if (runs) note(runs.version, runs.at);
    for (const version of [waits, runs?.version]) if (version !== undefined) current.add(version);
    // The tilde sorts after all times.
    if (waits !== undefined) note(waits, `~${since ?? ''}`);
  }
  const newestFirst = [...first].sort(([, a], [, b]) => (a < b ? 1 : -1)).map(([version]) => version);
  const past = newestFirst.filter((version) => !current.has(version)).slice(0, MAX_PAST);
  return newestFirst.filter((version) => current.has(version) || past.includes(version));
}

/** The stage with the newest change; undefined if nothing is deployed. */
export function lastMoved(stages: readonly Row[]): Row | undefined {
  return stages.filter(({ runs }) => runs).sort((a, b) => (movedAt(a) < movedAt(b) ? 1 : -1))[0];
}

export function movedAt({ runs }: Row): string {
  return runs?.endedAt ?? runs?.at ?? '';
}

/** The tone of an edge: good if its version has passed, else that of its progress; undefined without a version. */
export function edgeTone(from: Row | undefined, to: Row | undefined): 'good' | 'busy' | 'held' | 'bad' | undefined {
  const { version, at } = to?.track ?? {};
  // A version to which a stage was rolled back doesn't come over this edge.
  const isOverEdge = at === 'waits' || at === 'gates' || (version !== undefined && version === from?.runs?.version);
  if (to?.track && isOverEdge) return trackTone(to.track);
  return from?.runs && to?.runs?.version === from.runs.version ? 'good' : undefined;
}
