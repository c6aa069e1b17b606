/** The steps of the demo: each acts on the cluster, explains it, and throws if the expected result isn't seen. */
import { ref } from '../../actors/objects.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { ObjectRef } from '../../client/resources.ts';
import { type AnyObject, ApiError } from '../../client/send.ts';
import { Problem } from '../process/problem.ts';
import { waitFor } from '../process/waitFor.ts';
import type { DemoFlux } from './flux.ts';
import { APP, HOME, imagePolicy, kustomization, namespace, ociRepository, rollout, rolloutGate } from './objects.ts';
import type { DemoOutput } from './output.ts';

/** The parts of the cluster the output uses. */
export interface DemoContext {
  output: DemoOutput;
  admin: User;
  developer: User;
  flux: DemoFlux;
}

export function contextOn(
  accessOf: (user: 'admin' | 'developer') => Access,
  output: DemoOutput,
  flux: DemoFlux,
): DemoContext {
  const as = (user: 'admin' | 'developer') => new User(accessOf(user));
  return { output, admin: as('admin'), developer: as('developer'), flux };
}

const BY_DEMO = { manager: 'demo' };

export async function firstVersion({ output, admin, developer, flux }: DemoContext): Promise<void> {
  output.heading('A team binds a Kustomization and an OCIRepository to a Rollout');
  for (const object of [namespace, imagePolicy, ...flux.credentials]) await admin.apply(object, BY_DEMO);
  output.command('kubectl apply -f rollout.yaml -f kustomization.yaml -f ocirepository.yaml   # as developer');
  for (const object of [ociRepository(flux.source), kustomization, rollout]) await developer.apply(object, BY_DEMO);
  output.explain('Git says 0.9.0 in both. Flux finds the tag 1.0.0 in the registry:');
  const since = await publish(admin, flux, '1.0.0');
  await arrival(admin, '1.0.0');
  output.seen(
    `Kustomization my-app has APP_VERSION=1.0.0, OCIRepository my-app has tag=1.0.0, ${since()} after the tag`,
  );
  await applied(admin, '1.0.0');
  output.seen(`Flux has applied 1.0.0, ${since()} after the tag`);
}

export async function heldVersion({ output, admin, flux }: DemoContext): Promise<void> {
  output.heading('Version 1.1.0 appears, and a gate is closed');
  output.command('kubectl apply -f gate.yaml                       # RolloutGate qa, passing: false');
  await admin.apply(rolloutGate(false), BY_DEMO);
  output.explain('Flux finds the tag 1.1.0:');
  await publish(admin, flux, '1.1.0');
  const held = await waitFor(async () => {
    const status = (await read(admin, rollout)).status ?? {};
    const gates = condition(status, 'GatesPassing');
    const candidates = (status.releaseCandidates ?? []).map(({ tag }: { tag: string }) => tag);
    return candidates.includes('1.1.0') && gates?.reason === 'SomeGatesBlocking' && gates;
  }, 'the Rollout holds 1.1.0');
  output.command('kubectl describe rollout my-app   # its conditions');
  output.quote(`GatesPassing=${held.status} ${held.reason}: ${held.message}`);
  await expectVersion(admin, '1.0.0');
  output.seen('1.1.0 waits, the Flux objects still have 1.0.0');
}

export async function directEdit({ output, admin, developer }: DemoContext): Promise<void> {
  output.heading('A developer tries to deploy 1.1.0 with kubectl');
  const patch = { spec: { postBuild: { substitute: { APP_VERSION: '1.1.0' } } } };
  output.command(`kubectl patch kustomization my-app --type merge -p '${JSON.stringify(patch)}'   # as developer`);
  const refusal = await refused(() => developer.mergePatch(kustomization as ObjectRef, patch));
  output.quote(`Error from server (Forbidden): ${refusal}`);
  await expectVersion(admin, '1.0.0');
  output.seen('refused, and nothing changed');
}

export async function gateOpens({ output, admin }: DemoContext): Promise<void> {
  output.heading('QA opens the gate');
  output.command(`kubectl patch rolloutgate qa --type merge -p '{"spec":{"passing":true}}'`);
  const since = clock();
  await admin.apply(rolloutGate(true), BY_DEMO);
  await arrival(admin, '1.1.0');
  output.seen(`Kustomization and OCIRepository have 1.1.0, ${since()} after the gate opened`);
  await applied(admin, '1.1.0');
  output.seen(`Flux has applied 1.1.0, ${since()} after the gate opened`);
  const [newest, before] = (await read(admin, rollout)).status.history;
  output.quote(`history: ${newest.id} ${newest.version.tag} (${newest.message}), ${before.id} ${before.version.tag}`);
}

export async function gitSync({ output, admin, flux }: DemoContext): Promise<void> {
  output.heading('Git re-applies its old manifest, with 0.9.0 in it');
  output.command(
    'kubectl apply --server-side --force-conflicts -f kustomization.yaml   # as kustomize-controller does it',
  );
  const before = await read(admin, kustomization);
  for (const warning of await flux.sync(kustomization)) output.quote(`Warning: ${warning}`);
  const after = await read(admin, kustomization);
  if (after.metadata.generation !== before.metadata.generation) {
    throw new Problem(
      `The sync changed the spec: generation ${before.metadata.generation} became ${after.metadata.generation}.`,
    );
  }
  await expectVersion(admin, '1.1.0');
  await flux.sync(kustomization);
  const { generation, resourceVersion } = (await read(admin, kustomization)).metadata;
  const hasDrift = generation !== after.metadata.generation || resourceVersion !== after.metadata.resourceVersion;
  output.seen(`the spec is as it was, 1.1.0 stays${hasDrift ? '' : ' and the next sync sees no drift'}`);
}

const read = (user: User, object: AnyObject) => user.get(object as ObjectRef);

/** Pushes the tag as CI would; then the admin writes the status that image-reflector-controller would write. */
async function publish(admin: User, flux: DemoFlux, tag: string): Promise<() => string> {
  await flux.push(tag);
  const since = clock();
  await admin.patchStatus(imagePolicy as ObjectRef, { latestRef: { name: 'registry.example/my-app', tag } });
  return since;
}

async function versions(admin: User): Promise<string[]> {
  const [app, source] = await Promise.all([read(admin, kustomization), admin.get(ref('ociRepository', HOME, APP))]);
  return [app.spec.postBuild?.substitute?.APP_VERSION, source.spec.ref?.tag];
}

async function arrival(admin: User, version: string): Promise<void> {
  const isThere = async () => (await versions(admin)).every((found) => found === version);
  await waitFor(isThere, `${version} is in both Flux objects`);
}

async function applied(admin: User, version: string): Promise<void> {
  await waitFor(
    async () => (await read(admin, kustomization)).status?.lastAppliedRevision?.startsWith(`${version}@`),
    `Flux applies ${version}`,
  );
}

async function expectVersion(admin: User, version: string): Promise<void> {
  const found = await versions(admin);
  if (found.some((each) => each !== version)) throw new Problem(`Expected ${version}, found ${found.join(' and ')}.`);
}

async function refused(write: () => Promise<unknown>): Promise<string> {
  try {
    await write();
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return error.message;
    throw error;
  }
  throw new Problem('The direct edit was accepted: the admission webhook does not hold.');
}

function condition(status: AnyObject['status'], type: string) {
  return (status.conditions ?? []).find((each: { type: string }) => each.type === type);
}

function clock(): () => string {
  const start = performance.now();
  return () => `${Math.round(performance.now() - start)} ms`;
}
