/** The commands that change one Rollout. */

import type { Gate, Rollout, RolloutGate } from '../../api/types.ts';
import type { ActionType } from '../../client/actions/action.ts';
import { badRequest, type PlannedWrite } from '../../client/actions/writes/plannedWrite.ts';
import { rollback } from '../../client/actions/writes/rollbackWrite.ts';
import { EXIT } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { parseName, readAnyGate, readPolicy, readRollout } from '../../connection/read/namedObjects.ts';
import type { ArgumentDefinition, CommandDefinition, Invocation, OptionDefinition } from '../command/command.ts';
import { APPROVABLE, WAIT_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { act } from '../write/act.ts';
import { WAIT_CODES } from '../write/wait.ts';

// The commands that request one action of a Rollout.

interface RolloutVerb {
  description: string;
  examples: CommandDefinition['examples'];
  /** Whether the command takes a version after the Rollout's name. */
  version?: 'required' | 'optional';
  options?: readonly OptionDefinition[];
  /** The write, where it isn't that of the action. */
  plan?(rollout: Rollout, version: string | undefined, options: Options, cluster: Cluster): Promise<PlannedWrite>;
}

type Options = Invocation['options'];

const ROLLOUT: ArgumentDefinition = { syntax: '<rollout>', help: 'its name', completes: { names: 'Rollout' } };

function rolloutCommandOf(type: ActionType, verb: RolloutVerb): CommandDefinition {
  const { description, examples, version, options = [], plan } = verb;
  const versions: ArgumentDefinition[] =
    version === undefined
      ? []
      : [{ syntax: version === 'required' ? '<version>' : '[version]', help: 'a tag', completes: 'versions' }];
  return {
    description,
    arguments: [ROLLOUT, ...versions],
    options: [...options, ...WRITE_OPTIONS, ...WAIT_OPTIONS],
    examples,
    exitCodes: WAIT_CODES,
    async run(context, invocation) {
      const [name, tag] = invocation.arguments as [string, string?];
      const cluster = await context.cluster();
      return act(context, invocation, {
        read: () => readRollout(cluster, name),
        request: (rollout) =>
          plan ? plan(rollout, tag, invocation.options, cluster) : { type, ...(tag && { version: tag }) },
      });
    },
  };
}

export const deployCommand = rolloutCommandOf('deploy', {
  description: `Deploys a version now, manually.

It bypasses RolloutGates, HealthChecks and a running bake, but not closed Gates.
Afterwards newer versions are candidates again. To stay on the version, use pin.`,
  version: 'required',
  examples: [
    ['a fix, at once', "deploy my-app 1.2.1 --reason 'INC-7: login is broken'"],
    ['and wait until it has baked', 'deploy my-app 1.2.1 --wait --timeout 30m'],
    ['what would the API server say?', 'deploy my-app 1.2.1 --dry-run=server'],
  ],
});

export const pinCommand = rolloutCommandOf('pin', {
  description: `Deploys a version, also an older one, and stays on it: nothing newer is deployed until unpin.`,
  version: 'required',
  examples: [['go back, and stay there', "pin my-app 1.1.0 --reason 'leaks memory'"]],
});

export const unpinCommand = rolloutCommandOf('unpin', {
  description: `Resumes automation: the newest version that nothing blocks is deployed at once.

The command names the version, and asks you to confirm.`,
  examples: [['back to automatic', 'unpin my-app']],
});

export const retryCommand = rolloutCommandOf('retry', {
  description: `Retries the newest deployment after it has failed.

The version must be applied, become healthy and bake again.`,
  examples: [['the database is back', "retry my-app --reason 'the database is back'"]],
});

export const unblockCommand = rolloutCommandOf('unblock', {
  description: `Lets automation continue with the next version after a failed one.

Use it after a failure that blocks later versions (spec.onFailure: Hold). Gates, RolloutGates and HealthChecks can still block the next version.`,
  examples: [['1.2.0 has failed, 1.2.1 repairs it', "unblock my-app --reason '1.2.1 repairs it'"]],
});

export const rollbackCommand = rolloutCommandOf('rollback', {
  description: `Goes back to the named version, or to the last one before the current that succeeded, and stays on it.

The command never selects a newer version, nor one that was rolled back.
It shows both versions, whether the image may be another one, and any release between them that cannot be undone. Then it asks you to confirm.`,
  version: 'optional',
  options: [{ flags: '--no-pin', help: 'do not stay on it: newer versions are candidates again' }],
  examples: [
    ['to the version before', "rollback my-app --reason 'leaks memory'"],
    ['to a particular version', 'rollback my-app 1.0.3'],
  ],
  async plan(rollout, version, { reason, pin }, { client }) {
    const policy = await readPolicy(client, rollout);
    return rollback(rollout, policy, { version, stays: pin !== false, reason });
  },
});

export const withdrawCommand: CommandDefinition = {
  description: `Withdraws a requested version of a Rollout, or your approval at a Gate or RolloutGate.

A version that was requested with deploy or bypass can be withdrawn until it is deployed.`,
  arguments: [
    { syntax: '<rollout-or-gate>', help: 'a Rollout, rolloutgate/qa or gate/year-end', completes: APPROVABLE },
    {
      syntax: '[version]',
      help: 'to withdraw an approval: its version, a tag; at a Gate, namespace/rollout:tag',
      completes: 'versions',
    },
  ],
  options: WRITE_OPTIONS,
  examples: [
    ['a typo in the version', 'withdraw my-app'],
    ['your approval', 'withdraw rolloutgate/qa 1.2.0'],
  ],
  async run(context, invocation) {
    const [text, version] = invocation.arguments as [string, string?];
    const cluster = await context.cluster();
    const { kind } = parseName(text, cluster.namespace);
    const isApproval = kind === 'Gate' || kind === 'RolloutGate';
    return act<Rollout | Gate | RolloutGate>(context, invocation, {
      read: () => (isApproval ? readAnyGate(cluster, text) : readRollout(cluster, text)),
      request() {
        if (isApproval && invocation.options.reason !== undefined)
          return badRequest('Withdrawing an approval records no reason: leave --reason out.');
        if (isApproval || version === undefined) return { type: 'withdraw', version };
        return badRequest(
          `To withdraw an approval of ${version}, name the RolloutGate or Gate: rolloutgate/NAME or gate/NAME.`,
        );
      },
      wait: async () => EXIT.ok,
    });
  },
};
