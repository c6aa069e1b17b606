import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FluxObject } from '../../api/flux.ts';
import { DEFAULT_BAKE } from '../../client/actions/writes/adoptedBake.ts';
import { type Adoption, adopt, boundObject, newObjects } from '../../client/actions/writes/adoption.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { fileNameOf, structuredText, yamlText } from '../../connection/kube/objectText.ts';
import { adoptionDiff, makeAdoption, readAdoptionContext } from '../../connection/makeAdoption.ts';
import { kindRow, readTarget } from '../../connection/read/namedObjects.ts';
import { isObjectName } from '../../core/kube/names.ts';
import { withCommands, withFullStop } from '../../core/text/commands.ts';
import type { CommandDefinition, Context } from '../command/command.ts';
import { DRY_RUN, outputOption, SHOW_KUBECTL, YES } from '../command/options.ts';
import { forSameCluster } from '../command/sameCluster.ts';
import { wrapText } from '../terminal/columns.ts';
import { styleOf } from '../terminal/style.ts';
import { make } from '../write/make.ts';

export const adoptCommand: CommandDefinition = {
  description: `Adopts a running Kustomization or OCIRepository under a Rollout, without changing what runs.

Without --apply or --out the command only shows the plan. The plan creates:

- a Rollout that starts with the running version,
- the annotation that binds the object,
- a HealthCheck of class kustomization that its bakes watch, if the hook server may read what the Kustomization applies,
- a RolloutGate that blocks a newer version, if one is published already.

The command finds the version in spec.postBuild.substitute or spec.ref.tag, and the ImagePolicy that selects it.`,
  arguments: [
    {
      syntax: '<kind/name>',
      help: 'kustomization/my-app or ocirepository/my-app',
      completes: { kinds: ['Kustomization', 'OCIRepository'], orRollout: false },
    },
  ],
  options: [
    { flags: '--apply', help: 'make the writes' },
    { flags: '--out <dir>', help: 'write the manifests into this folder, for Git' },
    { flags: '--policy <name>', help: 'the ImagePolicy, if several match', completes: { names: 'ImagePolicy' } },
    { flags: '--variable <name>', help: 'the variable, if several match' },
    {
      flags: '--rollout <name>',
      help: "name of the Rollout; the ImagePolicy's when absent",
      completes: { names: 'Rollout' },
    },
    { flags: '--runs <tag>', help: 'the running version, if it cannot be detected' },
    {
      flags: '--bake-time <duration>',
      help: `how long a version bakes once it is applied and healthy; ${DEFAULT_BAKE.bakeTime} when absent`,
    },
    {
      flags: '--deploy-timeout <duration>',
      help: `the longest time until a version is applied and healthy, after which it has failed; ${DEFAULT_BAKE.deployTimeout} when absent`,
    },
    { flags: '--no-bake', help: 'no bake and no HealthCheck: versions are not watched, and none fails' },
    YES,
    DRY_RUN,
    SHOW_KUBECTL,
    outputOption('json', 'yaml'),
  ],
  examples: [
    ['show the plan', 'adopt kustomization/my-app'],
    ['adopt it', 'adopt kustomization/my-app --apply'],
    ['write manifests for Git', 'adopt ocirepository/my-app --out apps/my-app'],
  ],
  async run(context, invocation) {
    const [text] = invocation.arguments as [string];
    const { options } = invocation;
    const cluster = await context.cluster();
    const object = await readAdopted(cluster, text);
    const related = await readAdoptionContext(cluster.client, object);
    const { policy, variable, rollout, runs, bakeTime, deployTimeout } = options;
    const noBake = options.bake === false || undefined;
    const adoption = adopt(object, related, { policy, variable, rollout, runs, bakeTime, deployTimeout, noBake });
    if (options.out) await writeFiles(context, object, adoption, options.out);
    else if (options.apply) {
      const how = { isDryRun: options.dryRun === 'server', signal: context.signal };
      await makeAdoption(cluster.client, { object, adoption }, (plan) => make(context, invocation, plan), how);
    } else await showPlan(context, object, adoption, options.output);
    const { terminal } = context;
    for (const { text, commands } of adoption.notes) {
      for (const line of wrapText(`Note: ${withFullStop(text)}`, terminal.columns())) terminal.note(line);
      if (commands) terminal.noteText(forSameCluster(withCommands('', ...commands).trimStart(), context.flags));
    }
    return EXIT.ok;
  },
};

async function readAdopted(cluster: Cluster, text: string): Promise<FluxObject> {
  const [word = '', name] = text.split('/');
  const kind = kindRow(word)?.kind;
  // A name alone would be that of a Rollout.
  if (name !== undefined && (kind === 'Kustomization' || kind === 'OCIRepository'))
    return (await readTarget(cluster, text)).object as FluxObject;
  const hint =
    kind === 'HelmRelease'
      ? ' The version of a HelmRelease is that of its chart: adopt the OCIRepository in its spec.chartRef.'
      : '';
  throw new Problem(
    `'${text}' cannot be put under a Rollout: expected kustomization/NAME or ocirepository/NAME.${hint}`,
    EXIT.usage,
  );
}

async function showPlan(
  context: Context,
  object: FluxObject,
  adoption: Adoption,
  format: 'json' | 'yaml' | undefined,
): Promise<void> {
  const { terminal } = context;
  const all = [...newObjects(adoption), boundObject(object, adoption)];
  if (format === 'json') return terminal.printText(await structuredText(all, 'json'));
  if (format === 'yaml') return terminal.printText((await Promise.all(all.map(yamlText))).join('\n---\n'));
  for (const line of await adoptionDiff(object, adoption, styleOf(context))) terminal.print(line);
  terminal.note('Nothing was changed. --apply makes the writes; --out DIR writes manifests for Git.');
}

/** Writes the manifests, but never over an existing file. */
async function writeFiles(
  { terminal }: Context,
  object: FluxObject,
  adoption: Adoption,
  folder: string,
): Promise<void> {
  const bound = boundObject(object, adoption);
  const all = [...newObjects(adoption), bound];
  // An API server may send anything as a name, and a name with a slash leads out of the folder.
  const wrong = all.find(({ metadata }) => !isObjectName(metadata.name ?? ''));
  if (wrong) throw new Problem(`${wrong.kind} '${wrong.metadata.name}' has no valid name. Nothing was written.`);
  await mkdir(folder, { recursive: true });
  for (const each of all) {
    const file = join(folder, fileNameOf(each));
    const head =
      each === bound ? `# A patch: merge it into your manifest of ${object.kind} ${object.metadata.name}.\n` : '';
    try {
      await writeFile(file, `${head}${await yamlText(each)}\n`, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new Problem(`${file} cannot be written: ${(error as Error).message}.`);
      throw new Problem(`${file} exists already: choose another folder.`);
    }
    terminal.print(file);
  }
}
