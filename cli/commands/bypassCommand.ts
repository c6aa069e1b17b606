import { BYPASSED_GATES } from '../../api/annotations.ts';
import { GOVERNED_KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { badRequest, type PlannedWrite, type WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import { rolloutCommand } from '../../client/actions/writes/rolloutWrites.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { makeWrite } from '../../connection/kube/sent.ts';
import { kindRow, readRollout, readTarget } from '../../connection/read/namedObjects.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { withCommands } from '../../core/text/commands.ts';
import type { CommandDefinition, Context } from '../command/command.ts';
import { OBJECT_WAIT_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { act } from '../write/act.ts';
import { printWarnings } from '../write/make.ts';
import { WAIT_CODES } from '../write/wait.ts';

export const bypassCommand: CommandDefinition = {
  description: `Deploys one version, or resumes one Flux object, despite the closed Gates that block it.

You need a reason, and the verb bypass on each closed Gate. Your name and the reason are recorded.

- For a Rollout the bypass is for one deployment of this version. If another version would be deployed first, the API server denies the request; if no closed Gate blocks it, nothing is changed. Like deploy, it also bypasses RolloutGates, HealthChecks and a running bake.
- A Flux object runs until one of its Gates closes again.
- With --rollout-gates it bypasses the RolloutGates of a Rollout instead, for one release candidate; a reason is optional then. Closed Gates and missing approvals still block it.`,
  arguments: [
    {
      syntax: '<target>',
      help: 'a Rollout, kustomization/web or kustomization/apps/web',
      completes: { kinds: GOVERNED_KINDS.map(({ kind }) => kind), orRollout: true },
    },
    {
      syntax: '[version]',
      help: 'a tag; when absent, the waiting or held version. A version that a user requested must be named',
      completes: 'versions',
    },
  ],
  options: [
    { flags: '--rollout-gates', help: 'bypass every RolloutGate of the Rollout, and no Gate; a reason is optional' },
    ...WRITE_OPTIONS,
    ...OBJECT_WAIT_OPTIONS,
  ],
  exitCodes: WAIT_CODES,
  examples: [
    ['a fix through a freeze', "bypass my-app 1.2.1 --reason 'INC-42, the fix'"],
    ['a release outside the hours of a RolloutSchedule', 'bypass my-app 1.2.1 --rollout-gates'],
    ['resume one object', "bypass kustomization/web --reason 'INC-42: scale up'"],
  ],
  async run(context, invocation) {
    const [target = '', version] = invocation.arguments as [string, string?];
    const { reason, rolloutGates } = invocation.options;
    if (rolloutGates && version === undefined) throw new Problem('--rollout-gates needs a version.', EXIT.usage);
    if (!rolloutGates && !reason)
      throw new Problem('A bypass needs a reason, which is recorded: --reason "<why>".', EXIT.usage);
    const cluster = await context.cluster();
    const [word = '', name] = target.split('/');
    const kind = name ? kindRow(word)?.kind : undefined;
    if (!rolloutGates && GOVERNED_KINDS.some((row) => row.kind === kind))
      return act(context, invocation, {
        read: async () => (await readTarget(cluster, target)).object,
        request: () => ({ type: 'bypass' }),
      });
    return act(context, invocation, {
      read: () => readRollout(cluster, target),
      request: () => ({ type: rolloutGates ? 'bypassRolloutGates' : 'bypass', version }),
      review: (planned, rollout) => (rolloutGates ? planned : bypassIfClosed(context, rollout, planned)),
    });
  },
};

/**
 * The write, if it bypasses a closed Gate. Only a dry run of the webhook shows that: the user may not be allowed to
 * read the Gates, and the Rollout's status may be older than the newest closure.
 */
async function bypassIfClosed(context: Context, rollout: Rollout, planned: WriteRequest): Promise<PlannedWrite> {
  const { client } = await context.cluster();
  const tried = await makeWrite(client, () => planned, { dryRun: true });
  if ('none' in tried) return tried;
  const [before, after] = [rollout, tried.object].map(({ metadata }) => metadata.annotations?.[BYPASSED_GATES]);
  if (after !== undefined && after !== before) return planned;
  // The Warnings have the cause if the user may bypass no Gate.
  printWarnings(context, tried.warnings);
  const version = planned.brings?.version ?? '';
  const text = `Nothing was changed: ${version} would bypass no closed Gate of Rollout ${refKey(identityOf(rollout))}.`;
  if (rollout.status?.history?.[0]?.version.tag === version) return badRequest(text);
  const verb = rollout.spec?.wantedVersion ? 'pin' : 'deploy';
  return badRequest(withCommands(text, ['To deploy it', rolloutCommand(rollout, verb, version)]));
}
