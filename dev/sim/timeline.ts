/** The events of a run as sentences: users' and Flux's writes, their consequences, and faults of the processes. */

import type { AnyObject } from '../client/send.ts';
import type { AnsweredWrite } from './apiServer/apiServer.ts';
import { bodyOf, targetOf } from './apiServer/requests.ts';
import type { SimulatedCluster } from './cluster/simulatedCluster.ts';

const OURS = [
  'system:serviceaccount:metacontroller:metacontroller',
  'system:serviceaccount:rollout-hooks:rollout-hooks',
  'system:serviceaccount:kube-system:generic-garbage-collector',
];
const FLUX = 'system:serviceaccount:flux-system:kustomize-controller';
const LONGEST = 160;
/** More lines than a reader follows. */
const MOST = 20;

/** The last new lines before `until`: writes of users and Flux, deployments, outcomes, suspensions, and faults. */
export function timeline(cluster: SimulatedCluster, from: number, until: number): string[] {
  const lines: [at: number, text: string][] = [...cluster.faults];
  for (const write of cluster.writes) {
    if (write.request.path.includes('dryRun=All') || OURS.includes(write.user)) continue;
    lines.push([write.answeredMs, sentenceOf(write)]);
  }
  for (const { at, object, before, type } of cluster.server.storage.events) {
    if (type !== 'DELETED') lines.push(...consequences(object, before).map((text): [number, string] => [at, text]));
  }
  const told = new Set<string>();
  const shown = lines
    .filter(([at]) => at >= from && at <= until)
    .sort(([a], [b]) => a - b)
    // Flux and reporters repeat their statuses.
    .filter(([, text]) => !told.has(text) && told.add(text));
  return shown.slice(-MOST).map(([at, text]) => `+${((at - from) / 1000).toFixed(2)} s  ${text}`);
}

/** The time at which the write that a violation names was stored. */
export function timeOf(cluster: SimulatedCluster, violation: string): number | undefined {
  const [, revision] = / at (\d+), by /.exec(violation) ?? [];
  return cluster.server.storage.events.find((event) => event.revision === Number(revision))?.at;
}

function consequences(object: AnyObject, before: AnyObject | undefined): string[] {
  const name = nameOf(object);
  if (object.kind === 'Rollout') {
    const [head] = object.status?.history ?? [];
    const [old] = before?.status?.history ?? [];
    if (!head) return [];
    if (head.id !== old?.id) return [`${name} deploys ${head.version.tag} (${head.id})`];
    return head.bakeStatus === old.bakeStatus ? [] : [`deployment ${head.id} of ${name} is ${head.bakeStatus}`];
  }
  if (!before || before.spec?.suspend === object.spec?.suspend) return [];
  return [`${name} is ${object.spec.suspend ? 'suspended' : 'resumed'}`];
}

function sentenceOf(write: AnsweredWrite): string {
  const { user, request, code, message } = write;
  const who = user === FLUX ? 'Flux' : user;
  const refused = message.split('\n')[0]!.slice(0, LONGEST);
  return `${who} ${actionOf(request)}${code < 300 ? '' : `: refused, ${refused}`}`;
}

function actionOf(request: AnsweredWrite['request']): string {
  const { kind, namespace, name, subresource } = targetOf(request.path)!;
  const body = bodyOf(request);
  const what = `${kind.kind} ${namespace}/${name || body.metadata?.name}`;
  if (request.method === 'DELETE') return `deletes ${what}`;
  if (request.method === 'POST') return `creates ${what}`;
  if (request.headers['content-type']?.startsWith('application/apply-patch')) return `applies ${what} from Git`;
  if (subresource) return `updates the status of ${what}: ${reportOf(body.status)}`;
  return `changes ${what}: ${changesOf(body).join(', ').slice(0, LONGEST)}`;
}

function reportOf(status: Record<string, any> = {}): string {
  const { latestRef, artifact, lastAppliedRevision, status: health } = status;
  return latestRef?.tag ?? lastAppliedRevision ?? artifact?.revision ?? health ?? Object.keys(status).join(', ');
}

/** `spec.path ./a`, `close.gate.fluxcd.io/requestedAt 2026-…`. */
function changesOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([key, each]) => changesOf(each, [...path, key]));
  const [first, second] = path;
  const key = first === 'metadata' && second === 'annotations' ? path.slice(2) : path;
  return [value === null ? `${key.join('.')} removed` : `${key.join('.')} ${JSON.stringify(value)}`];
}

const nameOf = ({ kind, metadata }: AnyObject) => `${kind} ${metadata.namespace}/${metadata.name}`;
