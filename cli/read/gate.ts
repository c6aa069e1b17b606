/** Gates and RolloutGates by the names that people type. */
import { GATES, ROLLOUT_GATES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import { few } from '../../core/kube/firstFew.ts';
import type { Cluster } from '../command/command.ts';
import { type KubeClient, unlessRefused } from '../kube/client.ts';
import { Problem } from '../terminal/exit.ts';
import { elsewhere } from './target.ts';

/** What a name may mean: the kind in front of it decides, where there is one. */
export type Named = NamespacedName & { kind: 'Gate' | 'RolloutGate' | 'Rollout' | undefined };

const KINDS: [RegExp, 'Gate' | 'RolloutGate' | 'Rollout'][] = [
  [/^gates?(\.gating\.toolkit\.fluxcd\.io)?$/i, 'Gate'],
  [/^(rolloutgates?|rg)(\.kuberik\.com)?$/i, 'RolloutGate'],
  [/^(rollouts?|ro)(\.kuberik\.com)?$/i, 'Rollout'],
];

/** `gate/year-end`, `rolloutgate/qa`, `gate/flux-system/year-end`, `flux-system/year-end`, `year-end`. */
export function parseNamed(text: string, home: string): Named {
  const parts = text.split('/').filter((part) => part !== '');
  const kind = parts.length > 1 ? KINDS.find(([pattern]) => pattern.test(parts[0]!))?.[1] : undefined;
  const [name = '', namespace = home, ...rest] = (kind ? parts.slice(1) : parts).reverse();
  if (rest.length > 0 || name === '')
    throw new Problem(`'${text}' names no object: expected NAME, NAMESPACE/NAME or KIND/NAME.`);
  return { kind, namespace, name };
}

export function findGate(client: KubeClient, { namespace, name }: NamespacedName): Promise<Gate | undefined> {
  return client.get<Gate>({ ...GATES, namespace, name });
}

export function findRolloutGate(
  client: KubeClient,
  { namespace, name }: NamespacedName,
): Promise<RolloutGate | undefined> {
  return client.get<RolloutGate>({ ...ROLLOUT_GATES, namespace, name });
}

/** The RolloutGates of a Rollout, by name. */
export async function rolloutGatesOf(client: KubeClient, { metadata }: Rollout): Promise<RolloutGate[]> {
  const all = await client.list<RolloutGate>({ ...ROLLOUT_GATES, namespace: metadata.namespace });
  return all.filter(({ spec }) => spec?.rolloutRef.name === metadata.name);
}

/** A Gate or a RolloutGate. @throws Problem where there is neither, with the `next` step, or both under that name. */
export async function readAnyGate(
  { client, namespace: home }: Cluster,
  text: string,
  next?: (named: Named) => string,
): Promise<Gate | RolloutGate> {
  const named = parseNamed(text, home);
  const [gate, rolloutGate] = await Promise.all([
    named.kind === 'RolloutGate' ? undefined : findGate(client, named),
    named.kind === 'Gate' ? undefined : findRolloutGate(client, named),
  ]);
  if (gate && rolloutGate) {
    throw new Problem(
      `There is a Gate and a RolloutGate '${named.name}' in namespace '${named.namespace}': say gate/${named.name} or rolloutgate/${named.name}.`,
    );
  }
  const found = gate ?? rolloutGate;
  if (found) return found;
  const what = named.kind ?? 'Gate or RolloutGate';
  const none = `There is no ${what} '${named.name}' in namespace '${named.namespace}'.${await hint(client, named)}`;
  throw new Problem(next ? `${none}\n${next(named)}` : none);
}

async function hint(client: KubeClient, { kind, namespace, name }: Named): Promise<string> {
  const collections = [...(kind === 'RolloutGate' ? [] : [GATES]), ...(kind === 'Gate' ? [] : [ROLLOUT_GATES])];
  const others = await Promise.all(collections.map((from) => elsewhere(client, from, name)));
  const here = await Promise.all(
    collections.map((from) => unlessRefused(client.list({ ...from, namespace }), 403, 404)),
  );
  const names = here.flatMap((found = []) => found.map(({ metadata }) => metadata.name ?? ''));
  return others.find(Boolean) ?? (names.length > 0 ? ` It has ${few(names, 8)}.` : '');
}

export function isGate(found: Gate | RolloutGate): found is Gate {
  return found.kind === 'Gate';
}

export function findRollout(client: KubeClient, { namespace, name }: NamespacedName): Promise<Rollout | undefined> {
  return client.get<Rollout>({ ...ROLLOUTS, namespace, name });
}
