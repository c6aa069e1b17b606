import type { Gate } from '../../api/types.ts';
import { FROZEN_KINDS, type Freeze, freeze, parseKinds } from '../../client/requests/freeze.ts';
import { freezeConcerns, heldText } from '../../client/requests/held.ts';
import { type Asked, isRequest } from '../../client/requests/request.ts';
import { parseSelector } from '../../client/requests/selector.ts';
import { parseDays, parseHours } from '../../client/requests/when.ts';
import { isTimeZone } from '../../core/calendar/localTime.ts';
import type { CommandDefinition, Context, Invocation } from '../command/command.ts';
import type { KubeClient } from '../kube/client.ts';
import { findGate, parseNamed } from '../read/gate.ts';
import { readSelected } from '../read/held.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { awaitGate, GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { make } from '../write/make.ts';
import { WAITING_FOR_GATE, WRITING } from '../write/options.ts';
import { endOf, spanOf, timeOf } from '../write/times.ts';

/** What a freeze without a name is called. */
const DEFAULT_NAME = 'freeze';

export const freezeCommand: CommandDefinition = {
  description: `Holds what is there as it is: closes the Gate of that name, or makes one that selects Flux objects and Rollouts. It says first what it would hold, and asks. Without an end it holds until it is thawed.`,
  arguments: [{ syntax: '[name]', help: `of the Gate; ${DEFAULT_NAME} when absent`, completes: 'gates' }],
  options: [
    { flags: '--kinds <kinds>', help: `what it selects; ${FROZEN_KINDS.join(',')} when absent` },
    { flags: '-l, --selector <labels>', help: 'only objects with these labels: tier=production' },
    {
      flags: '--namespace-selector <labels>',
      help: 'of the namespaces with these labels, instead of its own; "" means all',
    },
    { flags: '--for <time>', help: 'it ends after this: 30m, 24h, 2d' },
    { flags: '--until <time>', help: "it ends then: 'Mon 08:00', '18:00', '2027-01-04'" },
    { flags: '--at <time>', help: 'it begins then; with --for it lasts as long' },
    { flags: '--every <days>', help: 'by the calendar instead: Friday, sat,sun, weekend, weekday, day' },
    { flags: '--between <hours>', help: 'with --every: 16:00-08:00' },
    { flags: '--timezone <name>', help: 'with --every: of its days and hours; yours when absent' },
    ...WRITING,
    ...WAITING_FOR_GATE,
  ],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['nothing of this namespace changes until tomorrow', 'freeze incident -n shop --for 24h --reason INC-42'],
    ['no deployments on Fridays', 'freeze no-fridays -n shop --kinds Rollout --every Friday --timezone Europe/Berlin'],
    ['all syncs of a team', "freeze payments -n flux-system --namespace-selector team=payments --until 'Mon 08:00'"],
  ],
  async run(context, invocation) {
    const cluster = await context.cluster();
    const [name = DEFAULT_NAME] = invocation.arguments as [string?];
    const named = parseNamed(name, cluster.namespace);
    const wanted = wantedOf(context, invocation, { namespace: named.namespace, name: named.name });
    const made = await make(context, invocation, async () => {
      const existing = await findGate(cluster.client, wanted.ref);
      const asked = freeze(wanted, existing, context.now());
      return withWhatItHolds(cluster.client, asked, existing);
    });
    return awaitGate(context, invocation, made, { isPlanned: wanted.at !== undefined || wanted.every !== undefined });
  },
};

function wantedOf(context: Context, { options }: Invocation, ref: Freeze['ref']): Freeze {
  const at = timeOf(context, '--at', options.at);
  // A planned closing ends by the Gate's window: a Gate keeps one plan.
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
        : checked('--kinds', options.kinds, parseKinds, 'Kustomization,HelmRelease,Rollout'),
    labelSelector: optional('--selector', options.selector),
    namespaceSelector: optional('--namespace-selector', options.namespaceSelector),
    every: everyOf(context, options),
  };
}

function everyOf({ timeZone }: Context, options: Invocation['options']): Freeze['every'] {
  if (options.every === undefined) {
    const stray = ['between', 'timezone'].find((option) => options[option] !== undefined);
    if (stray) throw new Problem(`--${stray} goes with --every.`, EXIT.usage);
    return undefined;
  }
  const timezone: string = options.timezone ?? timeZone;
  if (!isTimeZone(timezone))
    throw new Problem(`--timezone: '${timezone}' is no time zone such as Europe/Berlin.`, EXIT.usage);
  return {
    days: checked('--every', options.every, parseDays, 'Friday, sat,sun, weekend or day'),
    hours: options.between === undefined ? undefined : checked('--between', options.between, parseHours, '16:00-08:00'),
    timezone,
  };
}

function optional(option: string, text: string | undefined) {
  return text === undefined ? undefined : checked(option, text, parseSelector, 'team=payments,tier!=test');
}

function checked<T>(option: string, text: string, parse: (text: string) => T | undefined, example: string): T {
  const parsed = parse(text);
  if (parsed === undefined)
    throw new Problem(`${option}: '${text}' does not parse; expected for example ${example}.`, EXIT.usage);
  return parsed;
}

/** A freeze is agreed to by whoever knows what it holds. */
async function withWhatItHolds(client: KubeClient, asked: Asked, existing: Gate | undefined): Promise<Asked> {
  if (!isRequest(asked)) return asked;
  const gate = existing ?? (asked.body as unknown as Gate);
  const { held, unread } = await readSelected(client, gate);
  const counted = existing?.status?.held;
  const named = counted !== undefined && counted > held.length ? `, with what names it ${counted} in all` : '';
  const missing = unread.length > 0 ? `. What you may not list is not counted: ${unread.join(', ')}` : '';
  return { ...asked, concerns: [`It holds ${heldText(held)}${named}${missing}`, ...freezeConcerns(gate, held)] };
}
