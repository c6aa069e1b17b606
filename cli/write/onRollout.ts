/** The commands that ask something of one Rollout: they differ in what they ask. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';
import type { Asked } from '../../client/requests/request.ts';
import type { ArgumentDefinition, Cluster, CommandDefinition, OptionDefinition } from '../command/command.ts';
import { readRollout } from '../read/rollouts.ts';
import { WAIT_CODES } from '../view/waitFor.ts';
import { awaitRollout } from './awaitRollout.ts';
import { make } from './make.ts';
import { WAITING, WRITING } from './options.ts';

export interface RolloutVerb {
  description: string;
  examples: CommandDefinition['examples'];
  /** After the Rollout's name. */
  version?: 'required' | 'optional';
  options?: readonly OptionDefinition[];
  ask(rollout: Rollout, given: Given, cluster: Cluster): Asked | Promise<Asked>;
}

export interface Given {
  /** Empty where it may be left out and was. */
  version: string;
  reason: string | undefined;
  options: Readonly<Record<string, any>>;
  now: EpochMs;
}

const ROLLOUT: ArgumentDefinition = { syntax: '<rollout>', help: 'its name', completes: 'rollouts' };

export function onRollout({ description, examples, version, options = [], ask }: RolloutVerb): CommandDefinition {
  const versions: ArgumentDefinition[] =
    version === undefined ? [] : [{ syntax: version === 'required' ? '<version>' : '[version]', help: 'a tag' }];
  return {
    description,
    arguments: [ROLLOUT, ...versions],
    options: [...options, ...WRITING, ...WAITING],
    examples,
    exitCodes: WAIT_CODES,
    async run(context, invocation) {
      const [name, tag = ''] = invocation.arguments as [string, string?];
      const cluster = await context.cluster();
      const { options: given } = invocation;
      let rollout: Rollout | undefined;
      const made = await make(context, invocation, async () => {
        rollout = await readRollout(cluster, name);
        const asked = { version: tag, reason: given.reason, options: given, now: context.now() };
        return ask(rollout, asked, cluster);
      });
      return awaitRollout(context, invocation, made, rollout);
    },
  };
}
