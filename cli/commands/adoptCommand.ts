import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS } from '../../api/kinds.ts';
import { type Adoption, adopt, BAKE, boundObject, newObjects } from '../../client/actions/writes/adoption.ts';
import { withCommands, withFullStop } from '../../core/text/commands.ts';
import { makeAdoption, readAdoptionContext } from '../../page/makeAdoption.ts';
import type { Cluster } from '../../tools/kube/cluster.ts';
import { additionLines, annotationLines, fileNameOf, structured, yamlText } from '../../tools/kube/objectText.ts';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import { readTarget } from '../../tools/read/namedObjects.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { DRY_RUN, output, SHOW_KUBECTL } from '../command/options.ts';
import { wrapped } from '../terminal/columns.ts';
import { styleOf } from '../terminal/style.ts';
import { make } from '../write/make.ts';

export const adoptCommand: CommandDefinition = {
  description: `Puts a running Kustomization or OCIRepository under a Rollout, and changes nothing that runs: a Rollout that begins with the version that runs, the annotation that binds the object, and, if a newer version is published already, a RolloutGate that holds it. It finds the version in spec.postBuild.substitute or spec.ref.tag, and the ImagePolicy that selects it. Without --apply or --out it shows what it would do.`,
  arguments: [
    {
      syntax: '<kind/name>',
      help: 'kustomization/my-app or ocirepository/my-app',
      completes: { kinds: BOUND_KINDS.map(({ kind }) => kind), orRollout: false },
    },
  ],
  options: [
    { flags: '--apply', help: 'do it' },
    { flags: '--out <dir>', help: 'write the manifests into this folder, for Git' },
    { flags: '--policy <name>', help: 'the ImagePolicy, if several match' },
    { flags: '--variable <name>', help: 'the variable, if several match' },
    { flags: '--rollout <name>', help: "name of the Rollout; the ImagePolicy's when absent" },
    { flags: '--runs <tag>', help: 'the running version, if it cannot be detected' },
    {
      flags: '--bake-time <duration>',
      help: `how long a version bakes once it is applied and healthy; ${BAKE.bakeTime} when absent`,
    },
    {
      flags: '--deploy-timeout <duration>',
      help: `the longest time until a version is applied and healthy, after which it has failed; ${BAKE.deployTimeout} when absent`,
    },
    { flags: '--no-bake', help: 'no bake: versions are not watched, and none fails' },
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
    const object = await readAdopted(cluster, text);
    const related = await readAdoptionContext(cluster.client, object.metadata.namespace ?? '');
    const { policy, variable, rollout, runs, bakeTime, deployTimeout } = options;
    const noBake = options.bake === false || undefined;
    const found = adopt(object, related, { policy, variable, rollout, runs, bakeTime, deployTimeout, noBake });
    if ('problem' in found) throw new Problem(found.problem);
    if (options.out) await write(context, object, found, options.out);
    else if (options.apply) await apply(context, invocation, cluster, found);
    else await show(context, object, found, options.output);
    const { terminal } = context;
    for (const { text, commands } of found.notes) {
      for (const line of wrapped(`Note: ${withFullStop(text)}`, terminal.columns())) terminal.note(line);
      if (commands) terminal.noteText(withCommands('', ...commands).trimStart());
    }
    return EXIT.ok;
  },
};

async function readAdopted(cluster: Cluster, text: string): Promise<FluxObject> {
  const { kind, object } = await readTarget(cluster, text);
  if (kind === 'Kustomization' || kind === 'OCIRepository') return object as FluxObject;
  throw new Problem(
    `'${text}' cannot be put under a Rollout: expected kustomization/NAME or ocirepository/NAME.`,
    EXIT.usage,
  );
}

async function show(
  context: Context,
  object: FluxObject,
  found: Adoption,
  format: 'json' | 'yaml' | undefined,
): Promise<void> {
  const { terminal } = context;
  const all = [...newObjects(found), boundObject(object, found)];
  if (format === 'json') return terminal.printText(await structured(all, 'json'));
  if (format === 'yaml') return terminal.printText((await Promise.all(all.map(yamlText))).join('\n---\n'));
  const style = styleOf(context);
  const parts = await Promise.all([
    ...newObjects(found).map((each) => additionLines(each, style)),
    annotationLines(object, found.annotations, style),
  ]);
  for (const line of parts.flat()) terminal.print(line);
  terminal.note(`Nothing was changed. --apply does it, --out DIR writes it into files.`);
}

/** Writes the manifests; never over a file that exists. */
async function write({ terminal }: Context, object: FluxObject, found: Adoption, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const bound = boundObject(object, found);
  for (const each of [...newObjects(found), bound]) {
    const file = join(folder, fileNameOf(each));
    const head =
      each === bound ? `# A patch: merge it into your manifest of ${object.kind} ${object.metadata.name}.\n` : '';
    try {
      await writeFile(file, `${head}${await yamlText(each)}\n`, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new Problem(`${file} cannot be written: ${(error as Error).message}.`);
      throw new Problem(`${file} is there already: choose another folder.`);
    }
    terminal.print(file);
  }
}

function apply(context: Context, invocation: Invocation, { client }: Cluster, found: Adoption): Promise<void> {
  const isDryRun = invocation.options.dryRun === 'server';
  return makeAdoption(client, found, (write) => make(context, invocation, () => write), {
    isDryRun,
    signal: context.signal,
  });
}
