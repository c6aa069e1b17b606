/** `close` and `open`: an existing Gate or RolloutGate. */
import { GATES, KINDS, ROLLOUTS } from '../../api/kinds.ts';
import type { Gate } from '../../api/types.ts';
import type { ActionRequest } from '../../client/actions/action.ts';
import { commandOf } from '../../client/actions/lines.ts';
import { type ClosedSpan, isTimed } from '../../client/actions/writes/gateWrites.ts';
import { badRequest, PROGRAM_WORD } from '../../client/actions/writes/plannedWrite.ts';
import { closeByNewGate, UNTIMED } from '../../client/actions/writes/rolloutGateWrites.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { unlessRefused } from '../../connection/kube/kubeClient.ts';
import { type ParsedName, parseName, readAnyGate, readNamed, readRollout } from '../../connection/read/namedObjects.ts';
import { evaluateGate } from '../../core/gate/gateTimeline.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { GATE_WAIT_OPTIONS, SPAN_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { closedSpanOf, timeOf } from '../command/timeOptions.ts';
import { act } from '../write/act.ts';
import { GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { choose } from '../write/choose.ts';

export const closeCommand: CommandDefinition = {
  description: `Closes an existing Gate or RolloutGate, until a user opens it or until the given time.

- A closed Gate holds everything that requires it. To create a Gate, use freeze.
- If the Gate is open by default, its spec.window ends the closure; --for and --until can't be later.
- A closed RolloutGate blocks all automatic deployments of its Rollout. It takes no times. With --rollout, close creates it if it doesn't exist.`,
  arguments: [{ syntax: '<gate>', help: 'a Gate, or rolloutgate/qa', completes: 'gates' }],
  options: [
    ...SPAN_OPTIONS,
    {
      flags: '--rollout <name>',
      help: 'for a new RolloutGate: the Rollout whose versions it blocks',
      completes: { names: 'Rollout' },
    },
    ...WRITE_OPTIONS,
    ...GATE_WAIT_OPTIONS,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['during an incident', 'close payments-freeze -n flux-system --reason INC-42'],
    ['over the weekend', "close payments-freeze -n flux-system --until 'Mon 08:00'"],
    ['block the next versions of one Rollout', 'close rolloutgate/qa -n shop --rollout my-app'],
  ],
  async run(context, invocation) {
    const [text = ''] = invocation.arguments as [string?];
    const { reason, rollout } = invocation.options;
    const span = closedSpanOf(context, invocation.options);
    const cluster = await context.cluster();
    if (rollout !== undefined) return closeForRollout(context, invocation, { text, rollout, span });
    return act(context, invocation, {
      read: () => readAnyGate(cluster, text, (parsed) => howToCreate(cluster, parsed, { ...span, reason })),
      request: () => ({ type: 'close', span }),
    });
  },
};

/** Closes a RolloutGate of the Rollout, or creates it. */
async function closeForRollout(
  context: Context,
  invocation: Invocation,
  { text, rollout, span }: { text: string; rollout: string; span: ClosedSpan },
): Promise<number> {
  const cluster = await context.cluster();
  const { kind, namespace, name } = parseName(text, cluster.namespace);
  return act(context, invocation, {
    read: () => readNamed(cluster.client, 'RolloutGate', { namespace, name }),
    async request(existing) {
      if (kind && kind !== 'RolloutGate')
        return badRequest(`--rollout is for a RolloutGate, and '${text}' is not one.`);
      if (isTimed(span)) return UNTIMED;
      const named = existing?.spec?.rolloutRef.name;
      if (named === rollout) return { type: 'close' };
      if (existing)
        return badRequest(`RolloutGate ${namespace}/${name} exists, and is for Rollout ${named}: choose another name.`);
      return closeByNewGate(await readRollout({ ...cluster, namespace }, rollout), name, invocation.options.reason);
    },
  });
}

/** The commands that create a missing Gate, closed in the span, or a missing RolloutGate. */
export async function howToCreate(
  { client }: Cluster,
  { kind, namespace, name }: ParsedName,
  { reason, ...freeze }: ClosedSpan & Pick<ActionRequest, 'reason'> = {},
): Promise<string> {
  const object = { kind: KINDS.Gate.kind, namespace, name: nameWord(name) };
  const gate = commandOf({ type: 'freeze', object, freeze, ...(reason && { reason }) });
  const found = kind === 'Gate' ? [] : await unlessRefused(client.list({ ...ROLLOUTS, namespace }), 403);
  const names = (found ?? []).map((rollout) => identityOf(rollout).name);
  const rollout = names.length === 1 ? names[0] : names.find((each) => each === name);
  const rolloutGate = shell`${PROGRAM_WORD} close rolloutgate/${nameWord(name)} -n ${namespace} --rollout ${rollout ?? '<rollout>'}`;
  return [
    ...(kind === 'RolloutGate'
      ? []
      : ['To create a Gate for everything that the namespace applies and deploys:', `  ${gate}`]),
    ...(kind === 'Gate' ? [] : ['To create a RolloutGate, for the versions of one Rollout:', `  ${rolloutGate}`]),
  ].join('\n');
}

export const openCommand: CommandDefinition = {
  description: `Opens a Gate for everything that it holds, or for one version; or opens a RolloutGate.

- For a Gate, the command lists what it releases, and asks you to confirm.
- For a Gate that a request has opened until a time, it begins spec.window again.
- For a RolloutGate, it sets spec.passing. Lists and required approvals still count.
- Without a name, it opens the Gate that a user has closed in the namespace. If there are several, it lists them and asks which one.`,
  arguments: [{ syntax: '[gate]', help: 'a Gate, or rolloutgate/qa', completes: 'gates' }],
  options: [
    { flags: '--for-version <tag>', help: 'for this version only; of one Rollout: namespace/rollout:tag' },
    { flags: '--at <time>', help: "open it at this time instead of now: 'Mon 08:00', '2026-12-24 18:00'" },
    ...WRITE_OPTIONS,
    ...GATE_WAIT_OPTIONS,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['the incident is over', "open year-end -n flux-system --reason 'INC-42 is over'"],
    ['what a user has closed in this namespace', "open -n shop --reason 'INC-42 is over'"],
    ['on Monday', "open year-end -n flux-system --at 'Mon 08:00'"],
  ],
  async run(context, invocation) {
    const [name] = invocation.arguments as [string?];
    const { forVersion: version } = invocation.options;
    const at = timeOf(context, '--at', invocation.options.at);
    const cluster = await context.cluster();
    const text = name ?? (await chooseClosedGate(context, cluster));
    return act(context, invocation, {
      read: () => readAnyGate(cluster, text),
      request: () => ({ type: 'open', version, span: { at } }),
    });
  },
};

async function chooseClosedGate(context: Context, { client, namespace }: Cluster): Promise<string> {
  const now = context.now();
  const gates = await client.list<Gate>({ ...GATES, namespace });
  const closed = gates.filter((gate) => {
    const { opened, cause } = evaluateGate(gate, now);
    return !opened && cause?.action === 'close';
  });
  if (closed.length === 0)
    throw new Problem(`No user has closed a Gate in namespace ${namespace}: there is nothing to open.`);
  const choices = closed.map((gate) => {
    const { name } = identityOf(gate);
    return {
      text: `Gate ${name}, ${gateText(gate, now)}`,
      command: shell`open ${name} -n ${namespace}`,
      value: `gate/${refKey(identityOf(gate))}`,
    };
  });
  return choose(context, `More than one Gate is closed in namespace ${namespace}.`, choices);
}
