/** `close`, `freeze`, `open` and `thaw`. */
import { GATES, KINDS } from '../../api/kinds.ts';
import type { Gate } from '../../api/types.ts';
import { freezeRights, lackingText, rightKey } from '../../client/actions/action.ts';
import { parseDays, parseHours, parseSelector } from '../../client/actions/userInput.ts';
import {
  closeGate,
  FROZEN_KINDS,
  type FreezeRequest,
  freeze,
  openGate,
  parseKinds,
  SELECTABLE_KINDS,
} from '../../client/actions/writes/gateWrites.ts';
import { badRequest, isRequest, type PlannedWrite, PROGRAM_WORD } from '../../client/actions/writes/plannedWrite.ts';
import { closeByNewGate, setPassing } from '../../client/actions/writes/rolloutGateWrites.ts';
import { gateText } from '../../client/explain/gateText.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { isTimeZone } from '../../core/calendar/localTime.ts';
import { evaluateGate } from '../../core/gate/gateState.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { withCommands } from '../../core/text/commands.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import type { Cluster } from '../../tools/kube/cluster.ts';
import { type KubeClient, unlessRefused } from '../../tools/kube/kubeClient.ts';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import { freezeConcerns, heldText, readSelected } from '../../tools/read/heldObjects.ts';
import {
  isGate,
  type ParsedName,
  parseName,
  readAnyGate,
  readNamed,
  readRollout,
} from '../../tools/read/namedObjects.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { GATE_WAIT_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { endOf, spanOf, timeOf } from '../command/timeOptions.ts';
import { awaitGate, GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { choose } from '../write/choose.ts';
import { type Made, make } from '../write/make.ts';
import { awaitRolloutGate } from '../write/wait.ts';

/** The default name of a freeze. */
const DEFAULT_NAME = 'freeze';

/** The options with which `close` creates a missing Gate. */
const SELECT_OPTIONS = ['kinds', 'selector', 'namespaceSelector', 'every'];

export const closeCommand: CommandDefinition = {
  description: `Closes a Gate for everything that requires it, until it is opened or until the given time. With --kinds, a selector or --every it creates the Gate if there is none; the command first lists what it holds, and asks. A RolloutGate closes for every version that is not deployed manually; with --rollout it is created if there is none.`,
  arguments: [{ syntax: '<gate>', help: 'a Gate, or rolloutgate/qa', completes: 'gates' }],
  options: [
    { flags: '--for <time>', help: 'open it again after this time: 30m, 24h, 2d' },
    { flags: '--until <time>', help: "open it again at this time: 'Mon 08:00', '18:00', '24 Dec', '2027-01-04'" },
    {
      flags: '--at <time>',
      help: "close it at this time instead of now: 'Mon 08:00', '2026-12-24 18:00'; --for counts from that time",
    },
    {
      flags: '--kinds <kinds>',
      help: `what a new Gate selects; ${FROZEN_KINDS.join(',')} when absent`,
      completes: SELECTABLE_KINDS,
    },
    { flags: '-l, --selector <labels>', help: 'only objects with these labels: tier=production' },
    {
      flags: '--namespace-selector <labels>',
      help: `select in namespaces with these labels instead of the Gate's own; "" means all`,
    },
    {
      flags: '--every <days>',
      help: 'close every week on these days, separated by commas: a day (fri), weekend, weekday, or day for every day',
      completes: DAYS,
    },
    { flags: '--between <hours>', help: 'with --every: only in these hours, 16:00-08:00' },
    {
      flags: '--timezone <name>',
      help: 'with --every: time zone of the days and hours; yours when absent',
      completes: Intl.supportedValuesOf('timeZone'),
    },
    {
      flags: '--rollout <name>',
      help: 'for a new RolloutGate: the Rollout whose versions it blocks',
      completes: 'rollouts',
    },
    ...WRITE_OPTIONS,
    ...GATE_WAIT_OPTIONS,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['during an incident', 'close payments-freeze -n flux-system --reason INC-42'],
    [
      'a new Gate: for one day, nothing new is applied or deployed in the namespace',
      'close incident -n shop --kinds Kustomization,HelmRelease,Rollout --for 24h --reason INC-42',
    ],
    ['no deployments on Fridays', 'close no-fridays -n shop --kinds Rollout --every Friday --timezone Europe/Berlin'],
    ['all syncs of a team', "close payments -n flux-system --namespace-selector team=payments --until 'Mon 08:00'"],
    ['block the next versions of one Rollout', 'close rolloutgate/qa -n shop --rollout my-app'],
  ],
  async run(context, invocation) {
    const [text = ''] = invocation.arguments as [string?];
    const { options } = invocation;
    const stray = ['between', 'timezone'].some((option) => options[option] !== undefined);
    const { reason, rollout } = options;
    if (stray || SELECT_OPTIONS.some((option) => options[option] !== undefined)) {
      if (rollout !== undefined)
        throw new Problem('--rollout is for a RolloutGate, which selects nothing.', EXIT.usage);
      return freezeBy(context, invocation, text);
    }
    const at = timeOf(context, '--at', options.at);
    const until = endOf(context, options);
    const cluster = await context.cluster();
    const isTimed = until !== undefined || at !== undefined;
    const made = await make(context, invocation, async () => {
      if (rollout !== undefined) return isTimed ? TIMED : closeForRollout(cluster, text, rollout, reason);
      const gate = await readAnyGate(cluster, text, howToCreate);
      if (isGate(gate)) return closeGate(gate, { reason, at, until }, context.now());
      return isTimed ? TIMED : setPassing(gate, false, reason);
    });
    return awaitEffect(context, invocation, made, at !== undefined);
  },
};

const TIMED = badRequest('A RolloutGate stays closed until it is opened: --for, --until and --at are for Gates.');

/** `close` that creates the Gate without further options. */
export const freezeCommand: CommandDefinition = {
  ...closeCommand,
  options: closeCommand.options?.filter(({ flags }) => !flags.startsWith('--rollout')),
  description: `The same as close with --kinds ${FROZEN_KINDS.join(',')}: closes the Gate of that name, or creates it.`,
  arguments: [{ syntax: '[name]', help: `name of the Gate; ${DEFAULT_NAME} when absent`, completes: 'gates' }],
  examples: [['nothing of this namespace changes until tomorrow', 'freeze incident -n shop --for 24h --reason INC-42']],
  run: (context, invocation) => freezeBy(context, invocation, (invocation.arguments as [string?])[0] ?? DEFAULT_NAME),
};

async function freezeBy(context: Context, invocation: Invocation, text: string): Promise<number> {
  const cluster = await context.cluster();
  const { kind, namespace, name } = parseName(text, cluster.namespace);
  if (kind === 'RolloutGate')
    throw new Problem(`RolloutGate '${name}' selects nothing: it is for one Rollout.`, EXIT.usage);
  const wanted = freezeRequestOf(context, invocation, { namespace, name });
  const made = await make(context, invocation, async () => {
    const existing = await readNamed(cluster.client, 'Gate', wanted.ref);
    const requested = freeze(wanted, existing, context.now());
    if (isRequest(requested)) await requireFreezeRights(cluster.client, wanted, existing);
    return withHeldObjects(cluster.client, requested, existing);
  });
  return awaitGate(context, invocation, made, { isPlanned: wanted.at !== undefined || wanted.every !== undefined });
}

/** Checks the rights for a freeze, before the user is asked to confirm it. @throws Problem */
async function requireFreezeRights(
  client: KubeClient,
  { ref, namespaceSelector }: FreezeRequest,
  existing: Gate | undefined,
): Promise<void> {
  const needed = freezeRights(ref, { isNew: !existing, ofOtherNamespaces: namespaceSelector !== undefined });
  const answers = await Promise.all(
    needed.map(async (right) => [rightKey(right), (await unlessRefused(client.mayI(right), 403)) ?? true] as const),
  );
  const lacks = lackingText(needed, Object.fromEntries(answers));
  if (lacks) throw new Problem(`You can't freeze with Gate ${refKey(ref)}: you need ${lacks}.`);
}

/** Closes a RolloutGate of the Rollout, or creates it. */
async function closeForRollout(
  cluster: Cluster,
  text: string,
  rollout: string,
  reason: string | undefined,
): Promise<PlannedWrite> {
  const { kind, namespace, name } = parseName(text, cluster.namespace);
  if (kind && kind !== 'RolloutGate') return badRequest(`--rollout is for a RolloutGate, and '${text}' is not one.`);
  const existing = await readNamed(cluster.client, 'RolloutGate', { namespace, name });
  if (!existing) return closeByNewGate(await readRollout({ ...cluster, namespace }, rollout), name, reason);
  const named = existing.spec?.rolloutRef.name;
  return named === rollout
    ? setPassing(existing, false, reason)
    : badRequest(`RolloutGate ${namespace}/${name} exists, and is for Rollout ${named}: choose another name.`);
}

/** The commands that create a missing Gate or RolloutGate. */
export function howToCreate({ kind, namespace, name }: ParsedName): string {
  const gate = shell`${PROGRAM_WORD} close ${nameWord(name)} -n ${namespace} --kinds ${FROZEN_KINDS.join(',')}`;
  const rolloutGate = shell`${PROGRAM_WORD} close rolloutgate/${nameWord(name)} -n ${namespace} --rollout ${'<rollout>'}`;
  return [
    ...(kind === 'RolloutGate'
      ? []
      : ['To create a Gate for everything that the namespace applies and deploys:', `  ${gate}`]),
    ...(kind === 'Gate' ? [] : ['To create a RolloutGate, for the versions of one Rollout:', `  ${rolloutGate}`]),
  ].join('\n');
}

function freezeRequestOf(context: Context, { options }: Invocation, ref: FreezeRequest['ref']): FreezeRequest {
  const at = timeOf(context, '--at', options.at);
  // A planned close request ends by the Gate's window, because a Gate keeps only one plan.
  const window = at === undefined ? undefined : spanOf('--for', options.for);
  return {
    ref,
    reason: options.reason,
    at,
    window,
    until: endOf(context, window === undefined ? options : { ...options, for: undefined }),
    kinds:
      options.kinds === undefined
        ? undefined
        : parseOption('--kinds', options.kinds, parseKinds, `one or more of ${SELECTABLE_KINDS.join(',')}`),
    labelSelector: parseSelectorOption('--selector', options.selector),
    namespaceSelector: parseSelectorOption('--namespace-selector', options.namespaceSelector),
    every: everyOf(context, options),
  };
}

function everyOf({ timeZone }: Context, options: Invocation['options']): FreezeRequest['every'] {
  if (options.every === undefined) {
    const stray = ['between', 'timezone'].find((option) => options[option] !== undefined);
    if (stray) throw new Problem(`--${stray} goes with --every.`, EXIT.usage);
    return undefined;
  }
  const timezone: string = options.timezone ?? timeZone;
  if (!isTimeZone(timezone))
    throw new Problem(`--timezone: '${timezone}' is no time zone such as Europe/Berlin.`, EXIT.usage);
  return {
    days: parseOption('--every', options.every, parseDays, 'for example Friday, sat,sun, weekend or day'),
    hours:
      options.between === undefined
        ? undefined
        : parseOption('--between', options.between, parseHours, 'for example 16:00-08:00'),
    timezone,
  };
}

function parseSelectorOption(option: string, text: string | undefined) {
  return text === undefined
    ? undefined
    : parseOption(option, text, parseSelector, 'for example team=payments,tier!=test');
}

function parseOption<T>(option: string, text: string, parse: (text: string) => T | undefined, expected: string): T {
  const parsed = parse(text);
  if (parsed === undefined) throw new Problem(`${option}: '${text}' does not parse; expected ${expected}.`, EXIT.usage);
  return parsed;
}

/** The write, with the objects that the Gate would hold as a text to confirm. */
async function withHeldObjects(
  client: KubeClient,
  requested: PlannedWrite,
  existing: Gate | undefined,
): Promise<PlannedWrite> {
  if (!isRequest(requested)) return requested;
  const gate = existing ?? (requested.body as unknown as Gate);
  const { held, unread } = await readSelected(client, gate);
  const counted = existing?.status?.held;
  const total = counted !== undefined && counted > held.length ? `; ${counted} with those that name it` : '';
  const missing =
    unread.length > 0 ? `. Not counted, because you aren't allowed to list them: ${unread.join(', ')}` : '';
  const concerns = [
    ...requested.concerns,
    `It holds ${heldText(held)}${total}${missing}`,
    ...freezeConcerns(gate, held),
  ];
  return { ...requested, concerns };
}

export const openCommand: CommandDefinition = {
  description: `Opens a Gate for everything that it holds, or for one version of Rollouts; or sets spec.passing of a RolloutGate, whose lists and required approvals still count. The command lists what it releases, and asks. Without a name, it opens the Gate that a user has closed in the namespace; if there are several, it lists them and asks.`,
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
    const { reason, forVersion: version } = invocation.options;
    const at = timeOf(context, '--at', invocation.options.at);
    const cluster = await context.cluster();
    const text = name ?? (await chooseClosedGate(context, cluster));
    const made = await make(context, invocation, async () => {
      const gate = await readAnyGate(cluster, text);
      if (isGate(gate)) return openGate(gate, { reason, at, version }, context.now());
      if (version !== undefined || at !== undefined)
        return badRequest(
          withCommands('A RolloutGate opens at once, and not for one version.', [
            'To allow one version',
            shell`${PROGRAM_WORD} approve rolloutgate/${identityOf(gate).name} ${version ?? '<version>'} -n ${identityOf(gate).namespace}`,
          ]),
        );
      return setPassing(gate, true, reason);
    });
    return awaitEffect(context, invocation, made, at !== undefined);
  },
};

/** Waits for the effect of opening or closing, if --wait is given. */
function awaitEffect(
  context: Context,
  invocation: Invocation,
  made: Made | undefined,
  isPlanned: boolean,
): Promise<number> {
  return made?.request.object.kind === KINDS.RolloutGate.kind
    ? awaitRolloutGate(context, invocation, made)
    : awaitGate(context, invocation, made, { isPlanned });
}

async function chooseClosedGate(context: Context, { client, namespace }: Cluster): Promise<string> {
  const now = context.now();
  const gates = await client.list<Gate>({ ...GATES, namespace });
  const closed = gates.filter((gate) => {
    const { opened, cause } = evaluateGate(gate, now);
    return !opened && cause?.action === 'close';
  });
  if (closed.length === 0)
    throw new Problem(`No user has closed a Gate in namespace '${namespace}': there is nothing to open.`);
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
