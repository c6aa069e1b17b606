/** What happened in a run, in plain words: who asked for what, what became of it, and what befell the processes. */

import type { AnsweredWrite } from './apiServer/apiServer.ts';
import { targetOf } from './apiServer/requests.ts';
import type { World } from './world/world.ts';

const OURS = [
  'system:serviceaccount:metacontroller:metacontroller',
  'system:serviceaccount:rollout-hooks:rollout-hooks',
];
const NAMES: Record<string, string> = { 'system:serviceaccount:flux-system:kustomize-controller': 'Flux' };
const VERBS: Record<string, string> = { POST: 'creates', PUT: 'replaces', PATCH: 'changes', DELETE: 'deletes' };
const LONGEST = 240;

/** A line for each write of people and Flux from this time on, each deployment, and each fault. */
export function story(world: World, from: number, until: number): string[] {
  const lines: [number, string][] = [];
  for (const write of world.writes) {
    if (write.request.path.includes('dryRun=All')) continue;
    if (!OURS.includes(write.user)) lines.push([write.answeredMs, told(write)]);
  }
  for (const { at, object, before, type } of world.server.storage.events) {
    const [head] = object.status?.history ?? [];
    const [old] = before?.status?.history ?? [];
    const { namespace, name } = object.metadata;
    if (object.kind !== 'Rollout' || type === 'DELETED' || !head) continue;
    if (head.id !== old?.id) lines.push([at, `Rollout ${namespace}/${name} deploys ${head.version.tag} (${head.id})`]);
    else if (head.bakeStatus !== old.bakeStatus)
      lines.push([at, `deployment ${head.id} of Rollout ${namespace}/${name} is ${head.bakeStatus}`]);
  }
  lines.push(...world.faults);
  return lines
    .filter(([at]) => at >= from && at <= until)
    .sort(([a], [b]) => a - b)
    .map(([at, text]) => `+${((at - from) / 1000).toFixed(2)} s  ${text}`);
}

function told({ user, request, code, message }: AnsweredWrite): string {
  const { kind, namespace, name, subresource } = targetOf(request.path)!;
  const body = request.method === 'DELETE' ? '' : shortened(JSON.stringify(request.body ?? ''));
  const what = `${NAMES[user] ?? user} ${VERBS[request.method]} ${kind.kind} ${namespace}/${name}${subresource ? ' (status)' : ''}`;
  const result = code < 300 ? '' : `, refused: ${message.slice(0, LONGEST)}`;
  return `${what}${body && `: ${body}`}${result}`;
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
