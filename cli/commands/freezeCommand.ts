/** `freeze`: creates a Gate that is closed now, later, or every week. */
import type { Gate } from '../../api/types.ts';
import { type ActionRequest, lackingText } from '../../client/actions/action.ts';
import { rightsOf } from '../../client/actions/table.ts';
import { parseDays, parseHours, parseKinds, parseSelector } from '../../client/actions/userInput.ts';
import {
  FROZEN_KINDS,
  type FreezeRequest,
  SELECTABLE_KINDS,
  type Selects,
} from '../../client/actions/writes/freeze.ts';
import { PROGRAM_WORD, type WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { rolesText } from '../../connection/kube/apiProblems.ts';
import { type KubeClient, reviewRights, unlessRefused } from '../../connection/kube/kubeClient.ts';
import { freezeConcerns, heldText, readSelected } from '../../connection/read/heldObjects.ts';
import { parseName, readNamed } from '../../connection/read/namedObjects.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { isTimeZone } from '../../core/calendar/localTime.ts';
import { withoutEmpty } from '../../core/kube/json.ts';
import { refKey } from '../../core/kube/names.ts';
import { withCommands } from '../../core/text/commands.ts';
import { nameWord, shell } from '../../core/text/shell.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import { GATE_WAIT_OPTIONS, SPAN_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { closedSpanOf } from '../command/timeOptions.ts';
import { act } from '../write/act.ts';
import { GATE_WAIT_CODES } from '../write/awaitGate.ts';

/** The default name of a freeze. */
const DEFAULT_NAME = 'freeze';

export const freezeCommand: CommandDefinition = {
  description: `Holds syncs and deployments of the objects that a Gate selects: now, later, or every week.

By default a new Gate selects the Kustomizations, HelmReleases and Rollouts of its namespace; sources still fetch.
Without --for, --until and --every, a new Gate stays closed until a user opens it.
The command lists what the Gate holds, and asks you to confirm.
If the Gate exists, the command closes it, and its spec.window ends the closure. The command fails with --every, with other --kinds or selectors than the Gate's, and if the Gate would open before the given end.`,
  arguments: [
    { syntax: '[name]', help: `name of the Gate; ${DEFAULT_NAME} when absent`, completes: { names: 'Gate' } },
  ],
  options: [
    {
      flags: '--kinds <kinds>',
      help: `kinds to select, separated by commas; ${FROZEN_KINDS.join(',')} when absent`,
      completes: SELECTABLE_KINDS,
    },
    { flags: '-l, --selector <labels>', help: 'only objects with these labels: tier=production' },
    {
      flags: '--namespace-selector <labels>',
      help: `select in namespaces with these labels instead of the Gate's own; "" means all`,
    },
    ...SPAN_OPTIONS,
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
    ...WRITE_OPTIONS,
    ...GATE_WAIT_OPTIONS,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    [
      'hold syncs and deployments of this namespace until tomorrow',
      'freeze incident -n shop --for 24h --reason INC-42',
    ],
    ['no deployments on Fridays', 'freeze no-fridays -n shop --kinds Rollout --every Friday --timezone Europe/Berlin'],
    ['all of a team', "freeze payments -n flux-system --namespace-selector team=payments --until 'Mon 08:00'"],
    ['over the weekend', "freeze weekend -n shop --at 'Fri 18:00' --until 'Mon 08:00'"],
  ],
  async run(context, invocation) {
    const [text = DEFAULT_NAME] = invocation.arguments as [string?];
    const freeze = freezeRequestOf(context, invocation.options);
    const cluster = await context.cluster();
    const { kind = 'Gate', namespace, name } = parseName(text, cluster.namespace);
    if (kind !== 'Gate') throw notAGate(kind, name, namespace);
    const object = { kind, namespace, name };
    const request: ActionRequest = { type: 'freeze', object, freeze };
    return act(context, invocation, {
      read: () => readNamed(cluster.client, 'Gate', object),
      request: () => request,
      async review(planned, existing) {
        await requireRights(cluster.client, request, existing);
        return withHeldObjects(cluster.client, planned, existing);
      },
    });
  },
};

type Options = Invocation['options'];

function freezeRequestOf(context: Context, options: Options): FreezeRequest {
  const selects: Selects = withoutEmpty({
    kinds: parseOption(options, 'kinds', parseKinds, `one or more of ${SELECTABLE_KINDS.join(',')}`),
    labelSelector: parseOption(options, 'selector', parseSelector, A_SELECTOR),
    namespaceSelector: parseOption(options, 'namespaceSelector', parseSelector, A_SELECTOR),
  });
  return {
    ...closedSpanOf(context, options),
    selects: Object.keys(selects).length > 0 ? selects : undefined,
    every: everyOf(context, options),
  };
}

const A_SELECTOR = 'for example team=payments,tier!=test';

function everyOf({ timeZone }: Context, options: Options): FreezeRequest['every'] {
  const days = parseOption(options, 'every', parseDays, 'for example Friday, sat,sun, weekend or day');
  if (days === undefined) {
    const stray = ['between', 'timezone'].find((option) => options[option] !== undefined);
    if (stray) throw new Problem(`--${stray} needs --every.`, EXIT.usage);
    return undefined;
  }
  const timezone: string = options.timezone ?? timeZone;
  if (!isTimeZone(timezone))
    throw new Problem(`--timezone: '${timezone}' is not a time zone such as Europe/Berlin.`, EXIT.usage);
  return { days, hours: parseOption(options, 'between', parseHours, 'for example 16:00-08:00'), timezone };
}

/** The value of an option; undefined if it is absent. @throws Problem if it does not parse */
function parseOption<T>(
  options: Options,
  key: string,
  parse: (text: string) => T | undefined,
  expected: string,
): T | undefined {
  const text: string | undefined = options[key];
  const parsed = text === undefined ? undefined : parse(text);
  if (text === undefined || parsed !== undefined) return parsed;
  const flag = key.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
  throw new Problem(`--${flag}: '${text}' does not parse; expected ${expected}.`, EXIT.usage);
}

function notAGate(kind: 'RolloutGate' | 'Rollout', name: string, namespace: string): Problem {
  const rollout = kind === 'Rollout' ? nameWord(name) : '<rollout>';
  const line = shell`${PROGRAM_WORD} close rolloutgate/${nameWord(name)} -n ${namespace} --rollout ${rollout}`;
  return new Problem(
    withCommands(`A freeze is a Gate, and '${name}' is a ${kind}.`, ['To block the versions of one Rollout', line]),
    EXIT.usage,
  );
}

/** Checks the rights, before the user is asked to confirm the freeze. @throws Problem */
async function requireRights(client: KubeClient, request: ActionRequest, existing: Gate | undefined): Promise<void> {
  const needed = rightsOf(request, existing);
  const rights = await reviewRights(needed, async (right) => (await unlessRefused(client.mayI(right), 403)) ?? true);
  const lacks = lackingText(needed, rights);
  if (!lacks) return;
  throw new Problem(
    `You can't freeze with Gate ${refKey(request.object)}: you need ${lacks}.${rolesText({ resource: 'gates' })}`,
  );
}

/** The write, with the objects that the Gate would hold as a text to confirm. */
async function withHeldObjects(
  client: KubeClient,
  request: WriteRequest,
  existing: Gate | undefined,
): Promise<WriteRequest> {
  const gate = existing ?? (request.body as unknown as Gate);
  const { held, unread } = await readSelected(client, gate);
  const counted = existing?.status?.requiredByCount;
  const total = counted !== undefined && counted > held.length ? `; ${counted} with those that name it` : '';
  const missing = unread.length > 0 ? `. Not read: ${unread.join('; ')}` : '';
  const holds = `It holds ${heldText(held)}${total}${missing}`;
  return { ...request, concerns: [...request.concerns, holds, ...freezeConcerns(gate, held)] };
}
