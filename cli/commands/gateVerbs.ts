/** `open`, and what `close` shares with it. */

import { GATES, KINDS } from '../../api/kinds.ts';
import type { Gate } from '../../api/types.ts';
import { openGate } from '../../client/actions/writes/gate.ts';
import { setPassing } from '../../client/actions/writes/rolloutGate.ts';
import { OURS, wrong } from '../../client/actions/writes/write.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { evaluateGate } from '../../core/gate/gateState.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { withCommands } from '../../core/text/commands.ts';
import { shell } from '../../core/text/shell.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from '../command/command.ts';
import { isGate, readAnyGate } from '../read/gate.ts';
import { Problem } from '../terminal/exit.ts';
import { awaitGate, GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { choose } from '../write/choose.ts';
import { type Made, make } from '../write/make.ts';
import { WAITING_FOR_GATE, WRITING } from '../write/options.ts';
import { timeOf } from '../write/times.ts';
import { awaitRolloutGate } from '../write/wait.ts';

export const AT = { flags: '--at <time>', help: "not now, but then: 'Mon 08:00', '2026-12-24 18:00'" } as const;

export const openCommand: CommandDefinition = {
  description: `Opens a Gate for everything that it holds, or for Rollouts that are to deploy one version; a RolloutGate for every version. It says what it releases, and asks. Without a name it is the Gate that a user has closed in the namespace; where there are several it lists them, and asks.`,
  arguments: [{ syntax: '[gate]', help: 'a Gate, or rolloutgate/qa', completes: 'gates' }],
  options: [
    { flags: '--for-version <tag>', help: 'for this version only; of one Rollout: namespace/rollout:tag' },
    AT,
    ...WRITING,
    ...WAITING_FOR_GATE,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['the incident is over', "open year-end -n flux-system --reason 'INC-42 is over'"],
    ['what a user has closed in this namespace', "open -n shop --reason 'INC-42 is over'"],
    ['on Monday', "open year-end -n flux-system --at 'Mon 08:00'"],
  ],
  async run(context, invocation) {
    const [name] = invocation.arguments as [string?];
    const { reason, forVersion: version } = invocation.options;
    const at = timeOf(context, '--at', invocation.options.at);
    const cluster = await context.cluster();
    const text = name ?? (await closedByHand(context, cluster));
    const made = await make(context, invocation, async () => {
      const gate = await readAnyGate(cluster, text);
      if (isGate(gate)) return openGate(gate, { reason, at, version }, context.now());
      if (version !== undefined || at !== undefined)
        return wrong(
          withCommands('A RolloutGate opens now and for all versions.', [
            'To let one version pass',
            shell`${OURS} approve rolloutgate/${identityOf(gate).name} ${version ?? '<version>'} -n ${identityOf(gate).namespace}`,
          ]),
        );
      return setPassing(gate, true, reason);
    });
    return afterGate(context, invocation, made, at !== undefined);
  },
};

/** `--wait` of what opens or closes a gate. */
export function afterGate(
  context: Context,
  invocation: Invocation,
  made: Made | undefined,
  isPlanned: boolean,
): Promise<number> {
  return made?.request.object.kind === KINDS.RolloutGate.kind
    ? awaitRolloutGate(context, invocation, made)
    : awaitGate(context, invocation, made, { isPlanned });
}

async function closedByHand(context: Context, { client, namespace }: Cluster): Promise<string> {
  const now = context.now();
  const gates = await client.list<Gate>({ ...GATES, namespace });
  const closed = gates.filter((gate) => {
    const { opened, cause } = evaluateGate(gate, now);
    return !opened && cause?.action === 'close';
  });
  if (closed.length === 0)
    throw new Problem(`Nobody has closed a Gate in namespace '${namespace}': there is nothing to open.`);
  const choices = closed.map((gate) => {
    const { name } = identityOf(gate);
    return {
      text: `Gate ${name}, ${gateText(gate, now)}`,
      command: shell`open ${name} -n ${namespace}`,
      value: `gate/${refKey(identityOf(gate))}`,
    };
  });
  return choose(context, `More than one Gate is closed in namespace '${namespace}'.`, choices);
}
