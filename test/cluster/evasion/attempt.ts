/** Carries out an attempt of attempts.yaml. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { User } from '../../../dev/actors/user.ts';
import type { ObjectRef } from '../../../dev/client/resources.ts';
import { mergePatched } from '../../../dev/sim/apiServer/requests.ts';
import { type Answer, type AnyObject, ApiError, type ClusterView, ref } from '../support/cluster.ts';
import { timestamp } from '../support/gates.ts';
import type { GatedNamespace } from './gatedNamespace.ts';

export type Identity = 'developer' | 'sre' | 'admin' | 'flux' | 'metacontroller' | 'hooks';

/** How a step writes, with its patch. For apply, clientSideApply and create that is a merge patch of the manifest. */
const VERBS = [
  'mergePatch',
  'jsonPatch',
  'apply',
  /** Sends only this and the manifest's name. */
  'applyOnly',
  'clientSideApply',
  /** A merge patch of the live object. */
  'replace',
  'create',
  'delete',
  'deleteCollection',
] as const;

interface Options {
  as?: Identity;
  /** A name of gated.ts, `binding` for the FluxBinding of `app`, or `copy` for a second object like `app`. */
  on?: string;
  manager?: string;
  dryRun?: boolean;
  subresource?: string;
  propagationPolicy?: 'Foreground';
}
type WrittenStep = Options & Partial<Record<(typeof VERBS)[number], any>>;
interface WrittenAttempt extends WrittenStep {
  steps?: WrittenStep[];
  never?: string;
}

export interface Step extends Options {
  on: string;
  do: (typeof VERBS)[number];
  with: any;
}

export interface Attempt {
  name: string;
  /** In order; a refused step does not end the attempt. */
  steps: Step[];
  /** Why it has no effect even with open Gates; absent if it has one. */
  never?: string | undefined;
}

export function readAttempts(): Attempt[] {
  const text = readFileSync(new URL('./attempts.yaml', import.meta.url), 'utf8');
  return Object.entries(parse(text) as Record<string, WrittenAttempt>).map(([name, { never, steps, ...one }]) => ({
    name,
    never,
    steps: (steps ?? [one]).map((each) => stepOf({ on: 'app', ...one, ...each })),
  }));
}

function stepOf(written: WrittenStep & { on: string }): Step {
  const verb = VERBS.find((each) => each in written)!;
  const { [verb]: data, ...options } = written;
  return { ...options, do: verb, with: Array.isArray(data) ? data : withMetadata(data) };
}

function withMetadata({ annotations, labels, ...patch }: Record<string, any>): object {
  if (annotations === undefined && labels === undefined) return patch;
  // Without those that are undefined.
  return { ...patch, metadata: JSON.parse(JSON.stringify({ ...patch.metadata, annotations, labels })) };
}

/** The parts of a gated that the attempt needs: what it is about, and for a Gate what it holds. */
export function partsOf({ steps }: Attempt): string[] {
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
    copy: JSON.stringify(steps).includes('"ring"') ? ['ring'] : [],
  };
  return [...new Set(steps.flatMap(({ on }) => needs[on] ?? [on]))].sort();
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
  const { dryRun, subresource, manager } = step;
  const options = { ...(subresource && { subresource }), ...(manager && { fieldManager: manager }) };
  const merged = () => mergePatched(manifest, step.with) as AnyObject;
  const apply = (object: AnyObject) =>
    user.apply(object, { manager: manager ?? 'kustomize-controller', force: true, ...(dryRun && { dryRun }) });
  switch (step.do) {
    case 'mergePatch':
      return user.mergePatch(target, step.with, options);
    case 'jsonPatch':
      return user.jsonPatch(target, step.with, options);
    case 'apply':
      return apply(merged());
    case 'applyOnly': {
      const { apiVersion, kind, metadata } = manifest;
      const { name, namespace } = metadata;
      return apply(mergePatched({ apiVersion, kind, metadata: { name, namespace } }, step.with) as AnyObject);
    }
    case 'clientSideApply':
      return user.clientSideApply(merged());
    case 'replace':
      return replace(user, target, step.with, options);
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

function manifestOf({ on }: Step, { ns, manifests }: GatedNamespace): AnyObject {
  if (on === 'binding') return ref('fluxBinding', ns, 'kustomization-app') as AnyObject;
  const manifest = manifests[on === 'copy' ? 'app' : on];
  if (!manifest) throw new Error(`attempts.yaml: there is no object '${on}'`);
  if (on !== 'copy') return structuredClone(manifest);
  const { finalizers: _, ...metadata } = manifest.metadata;
  return { ...structuredClone(manifest), metadata: { ...metadata, name: 'copy' } };
}
