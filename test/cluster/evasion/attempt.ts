/** Carries out an attempt of attempts.yaml. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { User } from '../../../dev/actors/user.ts';
import type { ObjectRef } from '../../../dev/client/resources.ts';
import { mergePatched } from '../../../dev/sim/apiServer/requests.ts';
import { type Answer, type AnyObject, ApiError, type ClusterView, ref } from '../support/cluster.ts';
import { GATES, GOVERNED, timestamp } from '../support/gates.ts';
import type { GatedNamespace } from './gatedNamespace.ts';

export type Identity = 'developer' | 'sre' | 'admin' | 'flux' | 'metacontroller' | 'hooks';

export interface Step {
  as?: Identity;
  /** A name of gated.ts, `binding` for the FluxBinding of `app`, or `copy` for a second object like `app`. */
  on?: string;
  do: 'mergePatch' | 'jsonPatch' | 'apply' | 'clientSideApply' | 'replace' | 'create' | 'delete' | 'deleteCollection';
  /**
   * The patch. For apply, clientSideApply and create it is a merge patch of the manifest; for replace, of the live
   * object.
   */
  with?: any;
  /** For apply: sends only this and the manifest's name. */
  only?: any;
  manager?: string;
  force?: boolean;
  dryRun?: boolean;
  subresource?: string;
  propagationPolicy?: 'Foreground';
}

export interface Attempt extends Step {
  name: string;
  /** Steps in order, instead of a single one; a refused step does not end the attempt. */
  steps?: Step[];
  /** Why it has no effect even with open Gates; absent if it has one. */
  never?: string;
}

export function readAttempts(): Attempt[] {
  return parse(readFileSync(new URL('./attempts.yaml', import.meta.url), 'utf8'));
}

export const stepsOf = (attempt: Attempt): Step[] => attempt.steps ?? [attempt];

/** The parts of a gated that the attempt needs: what it is about, and for a Gate what it holds. */
export function partsOf(attempt: Attempt): string[] {
  const needs: Record<string, string[]> = {
    binding: ['app'],
    freeze: ['app'],
    ring: ['ring', 'selected'],
    selected: ['ring', 'selected'],
    rollout: ['rollout', 'bound'],
    bound: ['rollout', 'bound'],
    loose: ['rollout', 'bound', 'loose'],
    chart: ['rollout', 'bound', 'chart'],
    choosing: ['choosing', 'chosen', 'follower'],
    chosen: ['choosing', 'chosen', 'follower'],
    follower: ['choosing', 'chosen', 'follower'],
    copy: JSON.stringify(attempt).includes('"ring"') ? ['ring'] : [],
  };
  return [...new Set(stepsOf(attempt).flatMap(({ on = 'app' }) => needs[on] ?? [on]))].sort();
}

/** A little less than manifests/policies/object-sizes.yaml allows for annotations. */
const FILLER = 130_000;
const GONE = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '00000000-0000-0000-0000-000000000000' }];

/** The API server's answer in a few words. */
export async function carryOut(step: Step, gated: GatedNamespace, view: ClusterView): Promise<string> {
  const many = Array.from({ length: 300 }, (_, i) => `gate-${i}`).join();
  const text = JSON.stringify(step)
    .replaceAll('$NS', gated.ns)
    .replaceAll('$NOW', timestamp())
    .replaceAll('$MANY', many)
    .replaceAll('$FILLER', 'x'.repeat(FILLER))
    .replaceAll('"$GONE"', JSON.stringify(GONE));
  try {
    const { warnings } = await perform(JSON.parse(text), gated, view[step.as ?? 'developer']);
    return `taken${warnings.map((warning) => `, Warning: ${warning}`).join('')}`;
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
}

async function perform(step: Step, gated: GatedNamespace, user: User): Promise<Answer> {
  const manifest = manifestOf(step, gated);
  const target = manifest as never;
  const { dryRun, subresource, manager, force } = step;
  const options = { ...(subresource && { subresource }), ...(manager && { fieldManager: manager }) };
  const merged = () => mergePatched(manifest, step.with ?? {}) as AnyObject;
  switch (step.do) {
    case 'mergePatch':
      return user.mergePatch(target, step.with, options);
    case 'jsonPatch':
      return user.jsonPatch(target, step.with, options);
    case 'apply': {
      const { apiVersion, kind, metadata } = manifest;
      const { name, namespace } = metadata;
      const bare = { apiVersion, kind, metadata: { name, namespace } };
      const object = step.only ? (mergePatched(bare, step.only) as AnyObject) : merged();
      return user.apply(object, {
        ...(manager && { manager }),
        ...(force && { force }),
        ...(dryRun && { dryRun }),
      });
    }
    case 'clientSideApply':
      return user.clientSideApply(merged());
    case 'replace':
      return replace(user, target, step.with ?? {}, options);
    case 'create':
      return user.create(merged(), options);
    case 'delete':
      return user.remove(target, { ...(step.propagationPolicy && { propagationPolicy: step.propagationPolicy }) });
    case 'deleteCollection':
      return user.removeAll(manifest.apiVersion, manifest.kind, gated.ns);
  }
}

/** Reads again after a conflict, which has nothing to do with Gates. */
async function replace(user: User, target: ObjectRef, patch: object, options: object): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await user.replace(mergePatched(await user.get(target), patch) as AnyObject, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409 || attempt > 5) throw error;
    }
  }
}

function manifestOf({ on = 'app' }: Step, { ns, manifests }: GatedNamespace): AnyObject {
  if (on === 'binding') return ref('fluxBinding', ns, 'kustomization-app') as AnyObject;
  const manifest = manifests[on === 'copy' ? 'app' : on];
  if (!manifest) throw new Error(`attempts.yaml: there is no object '${on}'`);
  if (on !== 'copy') return structuredClone(manifest);
  const { finalizers: _, ...metadata } = manifest.metadata;
  return { ...structuredClone(manifest), metadata: { ...metadata, name: 'copy' } };
}

/** Flux objects of the namespace that run although a closed Gate must hold them. */
export async function running(gated: GatedNamespace, admin: User): Promise<string[]> {
  const lists = await Promise.all(
    GOVERNED.map(async ({ apiVersion, kind }) =>
      (await admin.list(apiVersion, kind, gated.ns)).map((object) => ({ ...object, kind })),
    ),
  );
  return lists
    .flat()
    .filter(({ metadata }) => metadata.annotations?.[GATES]?.includes('freeze') || metadata.labels?.ring === 'frozen')
    .filter(({ spec }) => spec.suspend !== true)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .sort();
}
