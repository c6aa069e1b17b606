import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FluxObject, ImagePolicy } from '../../api/flux.ts';
import { KINDS, type KindName, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import { type Adoption, type Around, adopt } from '../../core/requests/adopt.ts';
import { creating, named, patching } from '../../core/requests/request.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from '../command/command.ts';
import { DRY_RUN, output } from '../command/options.ts';
import { isApiError } from '../kube/apiError.ts';
import type { KubeClient } from '../kube/client.ts';
import { findRolloutGate } from '../read/gate.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { wrapped } from '../terminal/layout.ts';
import { additionLines, annotationLines, fileNameOf, yamlOf } from '../view/diff.ts';
import { lookOf } from '../view/look.ts';
import { structured } from '../view/structured.ts';
import { ended, make } from '../write/make.ts';
import { SHOW_KUBECTL } from '../write/options.ts';

export const adoptCommand: CommandDefinition = {
  description: `Puts a running Kustomization or OCIRepository under a Rollout, and changes nothing that runs: a Rollout that begins with the version that runs, the annotation that binds the object, and, where something newer is out already, a RolloutGate that holds it. It finds the version in spec.postBuild.substitute or spec.ref.tag, and the ImagePolicy that selects it. Without --apply or --out it shows what it would do.`,
  arguments: [{ syntax: '<kind/name>', help: 'kustomization/my-app or ocirepository/my-app', completes: 'targets' }],
  options: [
    { flags: '--apply', help: 'do it' },
    { flags: '--out <dir>', help: 'write the manifests into this folder, for Git' },
    { flags: '--policy <name>', help: 'the ImagePolicy, where several could be meant' },
    { flags: '--variable <name>', help: 'the variable, where several could be meant' },
    { flags: '--rollout <name>', help: "name of the Rollout; the ImagePolicy's when absent" },
    { flags: '--runs <tag>', help: 'the version that runs, where it cannot be seen' },
    DRY_RUN,
    SHOW_KUBECTL,
    output('json', 'yaml'),
  ],
  examples: [
    ['what would it do?', 'adopt kustomization/my-app'],
    ['do it', 'adopt kustomization/my-app --apply'],
    ['into Git', 'adopt ocirepository/my-app --out apps/my-app'],
  ],
  async run(context, invocation) {
    const [text] = invocation.arguments as [string];
    const { options } = invocation;
    const cluster = await context.cluster();
    const object = await readTarget(cluster, text);
    const around = await readAround(cluster.client, object.metadata.namespace ?? '');
    const { policy, variable, rollout, runs } = options;
    const found = adopt(object, around, { policy, variable, rollout, runs });
    if ('problem' in found) throw new Problem(found.problem);
    if (options.out) await write(context, object, found, options.out);
    else if (options.apply) await apply(context, invocation, cluster, found);
    else await show(context, object, found, options.output);
    const { terminal } = context;
    for (const note of found.notes)
      for (const line of wrapped(`Note: ${ended(note)}`, terminal.columns())) terminal.note(line);
    return EXIT.ok;
  },
};

async function readTarget({ client, namespace }: Cluster, text: string): Promise<FluxObject> {
  const [word = '', name, ...rest] = text.split('/');
  const wanted = word.toLowerCase();
  const short: Record<string, KindName> = { ks: 'Kustomization', ocirepo: 'OCIRepository' };
  const row = [KINDS.Kustomization, KINDS.OCIRepository].find(
    ({ kind, resource }) => kind.toLowerCase() === wanted || resource === wanted || short[wanted] === kind,
  );
  if (!row || !name || rest.length > 0) {
    throw new Problem(
      `'${text}' cannot be put under a Rollout: expected kustomization/NAME or ocirepository/NAME.`,
      EXIT.usage,
    );
  }
  const object = await client.get<FluxObject>({ ...resourceOf(row), namespace, name });
  if (!object) throw new Problem(`There is no ${row.kind} '${name}' in namespace '${namespace}'.`);
  return object;
}

async function readAround(client: KubeClient, namespace: string): Promise<Around> {
  const [policies, repositories, rollouts] = await Promise.all([
    anyVersion<ImagePolicy>(client, 'ImagePolicy', namespace),
    anyVersion<KubeObject<{ image?: string }>>(client, 'ImageRepository', namespace).catch((error) => {
      if (isApiError(error, 403)) return [];
      throw error;
    }),
    client.list<Rollout>({ ...ROLLOUTS, namespace }),
  ]);
  const images = new Map(repositories.map(({ metadata, spec }) => [metadata.name ?? '', spec?.image ?? '']));
  return { policies, images, rollouts };
}

/** Older Flux serves image kinds in an older version only. */
async function anyVersion<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  namespace: string,
): Promise<T[]> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    try {
      return await client.list<T>({ apiVersion: `${group}/${version}`, resource, namespace });
    } catch (error) {
      if (!isApiError(error, 404)) throw error;
    }
  }
  return [];
}

/** In the order in which they are made. */
function manifests({ gate, rollout }: Adoption): KubeObject<any, any>[] {
  return [gate, rollout].flatMap((each) => each ?? []);
}

/** The object as far as Git has to know. */
function patchOf({ apiVersion, kind, metadata }: FluxObject, { annotations }: Adoption): KubeObject<any, any> {
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, annotations } } as KubeObject<any, any>;
}

async function show(
  context: Context,
  object: FluxObject,
  found: Adoption,
  format: 'json' | 'yaml' | undefined,
): Promise<void> {
  const { terminal } = context;
  const all = [...manifests(found), patchOf(object, found)];
  if (format === 'json') return terminal.print(await structured(all, 'json'));
  if (format === 'yaml') return terminal.print((await Promise.all(all.map(yamlOf))).join('\n---\n'));
  const look = lookOf(context);
  const parts = await Promise.all([
    ...manifests(found).map((each) => additionLines(each, look)),
    annotationLines(object, found.annotations, look),
  ]);
  for (const line of parts.flat()) terminal.print(line);
  terminal.note(`Nothing was changed. --apply does it, --out DIR writes it into files.`);
}

/** A file that is there is somebody's work. */
async function write({ terminal }: Context, object: FluxObject, found: Adoption, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const each of [...manifests(found), patchOf(object, found)]) {
    const file = join(folder, fileNameOf(each));
    try {
      await writeFile(file, `${await yamlOf(each)}\n`, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new Problem(`${file} cannot be written: ${(error as Error).message}.`);
      throw new Problem(`${file} is there already: choose another folder.`);
    }
    terminal.print(file);
  }
}

const SETTLED_MS = 30_000;

async function apply(context: Context, invocation: Invocation, cluster: Cluster, found: Adoption): Promise<void> {
  const { rollout, gate, object, annotations, version, rolloutName } = found;
  const ref = { namespace: object.namespace, name: rolloutName };
  const isDryRun = invocation.options.dryRun === 'server';
  const holds = gate && named('RolloutGate', { ...ref, name: gate.metadata.name ?? '' });
  // From a first attempt that was interrupted.
  const isHeld = gate && (await findRolloutGate(cluster.client, { ...ref, name: gate.metadata.name ?? '' }));
  if (gate && !isHeld) {
    const text = `Made ${holds}, which holds what comes next`;
    await make(context, invocation, () => creating('RolloutGate', gate, { text }));
  }
  if (rollout) {
    const text = `Made ${named('Rollout', ref)}, which begins with ${version}`;
    await make(context, invocation, () => creating('Rollout', rollout, { text }));
  }
  // Bound before that, the object would have nobody's version for a moment.
  if (!isDryRun) await begun(context, cluster.client, ref, version);
  const text = `Bound ${named(object.kind, object)} to ${named('Rollout', ref)}: ${version} stays`;
  await make(context, invocation, () => patching(object.kind, object, { metadata: { annotations } }, { text }));
}

async function begun(
  { signal }: Context,
  client: KubeClient,
  ref: { namespace: string; name: string },
  version: string,
): Promise<void> {
  const { setTimeout: wait } = await import('node:timers/promises');
  const deadline = performance.now() + SETTLED_MS;
  for (;;) {
    const rollout = await client.get<Rollout>({ ...ROLLOUTS, ...ref });
    if (rollout?.status?.history?.[0]?.version.tag === version) return;
    if (performance.now() > deadline) {
      throw new Problem(
        `${named('Rollout', ref)} has not begun with ${version} in ${SETTLED_MS / 1000} s: a closed Gate holds it, or Metacontroller does not run. Nothing is bound yet: see kubectl rollouts why ${ref.name} -n ${ref.namespace}, and run this again.`,
      );
    }
    await wait(300, undefined, { signal });
  }
}
