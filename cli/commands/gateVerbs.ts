/** open, close and thaw. */
import { GATES, KINDS } from '../../api/kinds.ts';
import type { Gate } from '../../api/types.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { closeGate, openGate } from '../../client/requests/gate.ts';
import { wrong } from '../../client/requests/request.ts';
import { setPassing } from '../../client/requests/rolloutGate.ts';
import { evaluateGate } from '../../core/gate/evaluate.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { shell } from '../../core/text/shell.ts';
import type { Cluster, CommandDefinition, Context, Invocation } from '../command/command.ts';
import { isGate, readAnyGate } from '../read/gate.ts';
import { Problem } from '../terminal/exit.ts';
import { awaitGate, GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { awaitRolloutGate } from '../write/awaitRolloutGate.ts';
import { choose } from '../write/choose.ts';
import { type Made, make } from '../write/make.ts';
import { WAITING_FOR_GATE, WRITING } from '../write/options.ts';
import { endOf, timeOf } from '../write/times.ts';

const GATE = { syntax: '<gate>', help: 'a Gate, or rolloutgate/qa', completes: 'gates' } as const;
const AT = { flags: '--at <time>', help: "not now, but then: 'Mon 08:00', '2026-12-24 18:00'" } as const;

export const openCommand: CommandDefinition = {
  description: `Opens a Gate for everything that it holds, or for Rollouts that are to deploy one version; a RolloutGate for every version. It says what it lets go, and asks.`,
  arguments: [GATE],
  options: [
    { flags: '--for-version <tag>', help: 'for this version only; of one Rollout: namespace/rollout:tag' },
    AT,
    ...WRITING,
    ...WAITING_FOR_GATE,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['the incident is over', "open year-end -n flux-system --reason 'INC-42 is over'"],
    ['on Monday', "open year-end -n flux-system --at 'Mon 08:00'"],
  ],
  async run(context, invocation) {
    const [text = ''] = invocation.arguments as string[];
    const { reason, forVersion: version } = invocation.options;
    const at = timeOf(context, '--at', invocation.options.at);
    const cluster = await context.cluster();
    const made = await make(context, invocation, async () => {
      const gate = await readAnyGate(cluster, text);
      if (isGate(gate)) return openGate(gate, { reason, at, version }, context.now());
      if (version !== undefined || at !== undefined)
        return wrong('A RolloutGate opens now and for all versions: for one of them use approve.');
      return setPassing(gate, true, reason);
    });
    return after(context, invocation, made, at !== undefined);
  },
};

export const closeCommand: CommandDefinition = {
  description: `Closes a Gate for everything that requires it, until somebody opens it or until the time that is given; a RolloutGate for every version that is not deployed by hand.`,
  arguments: [GATE],
  options: [
    { flags: '--for <time>', help: 'open it again after this: 30m, 24h, 2d' },
    { flags: '--until <time>', help: "open it again then: 'Mon 08:00', '18:00'" },
    AT,
    ...WRITING,
    ...WAITING_FOR_GATE,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['during an incident', 'close payments-freeze -n flux-system --reason INC-42'],
    ['for the night', "close payments-freeze -n flux-system --until '08:00'"],
  ],
  async run(context, invocation) {
    const [text = ''] = invocation.arguments as string[];
    const { reason } = invocation.options;
    const at = timeOf(context, '--at', invocation.options.at);
    const until = endOf(context, invocation.options);
    const cluster = await context.cluster();
    const made = await make(context, invocation, async () => {
      const gate = await readAnyGate(cluster, text);
      if (isGate(gate)) return closeGate(gate, { reason, at, until }, context.now());
      if (until !== undefined || at !== undefined)
        return wrong('A RolloutGate is closed until somebody opens it: it takes neither --for, --until nor --at.');
      return setPassing(gate, false, reason);
    });
    return after(context, invocation, made, at !== undefined);
  },
};

export const thawCommand: CommandDefinition = {
  description: `Ends a freeze: opens the Gate, which stays for the next time. Without a name it is the one that somebody has closed in the namespace; where there are several it says which, and asks.`,
  arguments: [{ syntax: '[gate]', help: 'its name', completes: 'gates' }],
  options: [...WRITING, ...WAITING_FOR_GATE],
  exitCodes: GATE_WAIT_CODES,
  examples: [['the incident is over', "thaw incident -n shop --reason 'INC-42 is over'"]],
  async run(context, invocation) {
    const [name] = invocation.arguments as [string?];
    const cluster = await context.cluster();
    const text = name ?? (await closedByHand(context, cluster));
    const made = await make(context, invocation, async () => {
      const gate = await readAnyGate(cluster, `gate/${text.replace(/^gates?\//, '')}`);
      return openGate(gate as Gate, { reason: invocation.options.reason }, context.now());
    });
    return after(context, invocation, made, false);
  },
};

function after(context: Context, invocation: Invocation, made: Made | undefined, isPlanned: boolean): Promise<number> {
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
    throw new Problem(`Nobody has closed a Gate in namespace '${namespace}': there is nothing to thaw.`);
  const choices = closed.map((gate) => {
    const { name } = identityOf(gate);
    return {
      text: `Gate ${name}, ${gateText(gate, now)}`,
      command: shell`thaw ${name} -n ${namespace}`,
      value: refKey(identityOf(gate)),
    };
  });
  return choose(context, `More than one Gate is closed in namespace '${namespace}'.`, choices);
}
