/** A fleet under a RolloutBudget, from one look of its hook to the next, until everybody has the newest version. */
import fc from 'fast-check';
import { type Amount, type BudgetSpec, type Fleeting, NaiveBudget } from '../../reference/budget.ts';
import { type AnyObject, ROUTES, serve } from '../world/apiServer.ts';
import { ask } from '../world/call.ts';
import { expectThat } from '../world/finding.ts';
import { rfc3339 } from './gateModel.ts';

type Status = Record<string, any>;

const START = Date.parse('2026-03-27T10:00:00Z');
const TAGS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
const LAST = '9.0.0';
const ORDER = ['canary', 'eu'];
/** Looks until everybody has to have the newest version: each may have to cool down, and be let go on. */
const PATIENCE = 100;

type Event = { who: number } & (
  | { do: 'ask'; versions: string[] }
  | { do: 'use' | 'withdraw' | 'retry' | 'delete' | 'leave' | 'speak' }
  | { do: 'byHand'; version: string }
  | { do: 'end'; bake: 'Succeeded' | 'Failed' | 'Cancelled' }
  | { do: 'bakes' }
  | { do: 'continue'; version: string }
  | { do: 'resize'; maxConcurrent: Amount }
);

export interface FleetLife {
  spec: BudgetSpec;
  fleet: { wave: string; image: string; isSilent: boolean; history: Fleeting['history'] }[];
  looks: { wait: number; events: Event[] }[];
}

const who = fc.nat(5);
const tag = fc.constantFrom(...TAGS);
const is = <T extends string>(...names: T[]) => fc.constantFrom(...names);
const maxConcurrent = fc.constantFrom<Amount>(1, 1, 2, 3, 0, '0%', '34%', '50%', '100%');
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: is('ask'),
      who,
      versions: fc.subarray(TAGS, { minLength: 1 }).map((tags) => tags.toReversed()),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: is('use', 'use', 'use', 'withdraw'), who }) },
  { weight: 2, arbitrary: fc.record({ do: is('bakes'), who }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: is('end'), who, bake: is('Succeeded', 'Succeeded', 'Failed', 'Cancelled') }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('retry', 'delete', 'leave', 'speak', 'speak'), who }) },
  { weight: 1, arbitrary: fc.record({ do: is('byHand'), who, version: tag }) },
  { weight: 1, arbitrary: fc.record({ do: is('continue'), who, version: tag }) },
  { weight: 1, arbitrary: fc.record({ do: is('resize'), who, maxConcurrent }) },
);
/** The oldest have succeeded: what has failed was the newest once, and was seen then. */
const history = fc
  .tuple(fc.subarray(TAGS.slice(0, 2)), is('Succeeded', 'Succeeded', 'Failed', 'Deploying', 'InProgress'))
  .map(([tags, bake]) =>
    tags
      .toReversed()
      .map((each, i) => ({ tag: each, bake: i === 0 ? bake : 'Succeeded', at: START - (i + 1) * 3_600_000 })),
  );

export const fleetLife: fc.Arbitrary<FleetLife> = fc.record({
  spec: fc
    .record({
      maxConcurrent,
      maxFailures: fc.constantFrom<Amount | undefined>(undefined, 1, 2, '25%', '50%'),
      order: fc.constantFrom(undefined, ORDER, ORDER),
      cooldownS: fc.constantFrom(0, 0, 90, 600),
      slotTimeoutS: fc.constantFrom(undefined, undefined, 600),
    })
    .map(({ maxFailures, order, slotTimeoutS, ...rest }) => ({
      ...rest,
      ...(maxFailures !== undefined && { maxFailures }),
      ...(order && { order }),
      ...(slotTimeoutS !== undefined && { slotTimeoutS }),
    })),
  fleet: fc.array(
    fc.record({
      wave: is('canary', 'eu', 'us'),
      image: is('shop', 'shop', 'shop', 'cart'),
      isSilent: fc.constantFrom(false, false, false, false, true),
      history,
    }),
    { minLength: 1, maxLength: 6 },
  ),
  looks: fc.array(
    fc.record({
      wait: fc.constantFrom(0, 1, 1, 59, 61, 89, 90, 599, 600, 7200),
      events: fc.array(event, { maxLength: 5 }),
    }),
    { maxLength: 12 },
  ),
});

/** The budget as it is stored, the fleet as it is, and what the naive one thinks of both. */
class Life {
  now = START;
  readonly naive = new NaiveBudget();
  readonly fleet: Fleeting[];
  private readonly spec: BudgetSpec;
  private readonly revisions = new Map<string, number>();
  private status: Status | undefined;
  private said: { version: string; uid: string } | undefined;
  private requests = 0;

  constructor({ spec, fleet }: FleetLife) {
    this.spec = { ...spec };
    this.fleet = fleet.map(({ wave, image, isSilent, history: had }, i) => ({
      name: `app-${i}`,
      wave,
      image: isSilent ? undefined : image,
      selected: true,
      history: isSilent ? [] : [...had],
    }));
  }

  happen(step: Event): void {
    const each = this.fleet[step.who % Math.max(1, this.fleet.length)];
    if (step.do === 'continue') this.continue(step.version);
    else if (step.do === 'resize') this.spec.maxConcurrent = step.maxConcurrent;
    else if (!each) return;
    else if (step.do === 'speak') each.image ??= 'shop';
    else if (step.do === 'leave') each.selected = false;
    else if (step.do === 'delete') this.fleet.splice(this.fleet.indexOf(each), 1);
    else this.deploy(each, step);
    if (each) this.revisions.set(each.name, this.revisionOf(each) + 1);
  }

  continue(version: string): void {
    this.said = { version, uid: `request-${++this.requests}` };
  }

  private deploy(each: Fleeting, step: Event): void {
    const [head] = each.history;
    const isOnItsWay = head?.bake === 'Deploying' || head?.bake === 'InProgress';
    if (step.do === 'ask' && head?.bake !== 'InProgress' && each.image !== undefined) {
      each.asks = { ...(each.asks ?? { id: this.revisionOf(each) + 1, since: this.now }), versions: step.versions };
    } else if (step.do === 'use') {
      const slot = this.naive.slots.find(({ name, state }) => name === each.name && state === 'Granted');
      if (slot && slot.request === each.asks?.id) this.begin(each, slot.version);
    } else if (step.do === 'byHand' && each.image !== undefined) this.begin(each, step.version);
    else if (step.do === 'withdraw') delete each.asks;
    else if (step.do === 'bakes' && head?.bake === 'Deploying' && !each.asks) head.bake = 'InProgress';
    else if (step.do === 'end' && head && isOnItsWay) head.bake = step.bake;
    else if (step.do === 'retry' && head?.bake === 'Failed' && !each.asks) head.bake = 'InProgress';
  }

  private begin(each: Fleeting, version: string): void {
    const [head] = each.history;
    if (head?.bake === 'Deploying' || head?.bake === 'InProgress') head.bake = 'Cancelled';
    each.history.unshift({ tag: version, bake: 'Deploying', at: this.now });
    delete each.asks;
  }

  /** A sync of the hook, and the same look by the naive one. */
  async look(): Promise<void> {
    const parent = this.budget();
    const rollouts = this.fleet.map((each) => this.rollout(each));
    serve({ now: this.now, objects: () => rollouts });
    const selected = rollouts.filter(({ metadata }) => metadata.labels?.app === 'web');
    const status = await this.sync(parent, selected);
    const again = await this.sync({ ...parent, status }, selected);
    this.naive.look(this.spec, this.fleet, this.now, this.said?.version);
    const details = { now: rfc3339(this.now), spec: this.spec, fleet: this.fleet, before: this.status, status };
    expectThat(JSON.stringify(again) === JSON.stringify(status), 'a sync of its own answer changes it', {
      ...details,
      again,
    });
    this.compare(status, details);
    this.status = status;
    this.said = undefined;
  }

  private compare(status: Status, details: object): void {
    const text = ({ name, version, state }: { name: string; version: string; state: string }) =>
      `${name} ${version} ${state}`;
    const [given, expected] = [status.slots ?? [], this.naive.slots].map((slots) => slots.map(text).sort());
    expectThat(given!.join() === expected!.join(), 'other Rollouts have slots', { ...details, expected });
    const counts = { underWay: this.naive.taken(), waiting: this.naive.waiting(this.spec, this.fleet) };
    for (const [field, count] of Object.entries(counts)) {
      expectThat(status[field] === count, `${field} is not ${count}`, details);
    }
    for (const { image, version, failed, failuresExcused = 0 } of status.versions ?? []) {
      const left = this.naive.failed(image, version);
      expectThat(failed - failuresExcused === left, `${version} has not failed in ${left}`, details);
    }
  }

  private async sync(parent: AnyObject, selected: AnyObject[]): Promise<Status> {
    const related = {
      'Rollout.kuberik.com/v1alpha1': Object.fromEntries(selected.map((each) => [`shop/${each.metadata.name}`, each])),
    };
    const controller = { apiVersion: '', kind: '', metadata: {} };
    const body = { controller, parent, children: {}, related, finalizing: false };
    const answer = await ask(ROUTES.get('/hooks/rolloutbudget/sync')!, body);
    if ('body' in answer) return answer.body.status;
    expectThat(false, 'a sync is refused', { answer });
    throw new Error('not reached');
  }

  private budget(): AnyObject {
    const { maxConcurrent: max, maxFailures, order, cooldownS, slotTimeoutS } = this.spec;
    const annotations: Record<string, string> = this.said
      ? {
          'rollout.kuberik.com/continue': this.said.version,
          'rollout.kuberik.com/continue-request': `${this.said.uid} ${rfc3339(this.now)} ann`,
        }
      : {};
    return {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'RolloutBudget',
      metadata: { name: 'fleet', namespace: 'shop', uid: 'uid-fleet', generation: 1, annotations },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        maxConcurrent: max,
        ...(maxFailures !== undefined && { maxFailures }),
        ...(order && { order: { label: 'ring', values: [...order] } }),
        ...(cooldownS > 0 && { cooldown: `${cooldownS}s` }),
        ...(slotTimeoutS !== undefined && { slotTimeout: `${slotTimeoutS}s` }),
      },
      ...(this.status && { status: this.status }),
    };
  }

  private rollout(each: Fleeting): AnyObject {
    const { name, wave, image, selected, history: had, asks } = each;
    return {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'Rollout',
      metadata: {
        name,
        namespace: 'shop',
        uid: `uid-${name}`,
        labels: { ring: wave, app: selected ? 'web' : 'other' },
      },
      spec: { releasesImagePolicy: { name: 'web' } },
      ...(image !== undefined && {
        status: {
          revision: this.revisionOf(each),
          image,
          history: had.map(({ tag: version, bake, at }, i) => ({
            id: had.length - i,
            version: { tag: version },
            timestamp: rfc3339(at),
            bakeStatus: bake,
            ...(bake === 'InProgress' && { bakeStartTime: rfc3339(at) }),
          })),
          ...(asks && {
            slotRequest: {
              id: asks.id,
              since: rfc3339(asks.since),
              versions: asks.versions.map((version) => ({ tag: version })),
              budgets: ['RolloutBudget/fleet'],
            },
          }),
        },
      }),
    };
  }

  private revisionOf({ name }: Fleeting): number {
    return this.revisions.get(name) ?? 5;
  }
}

export async function checkFleet(input: FleetLife): Promise<void> {
  const life = new Life(input);
  await life.look();
  for (const { wait, events } of input.looks) {
    life.now += wait * 1000;
    for (const each of events) life.happen(each);
    await life.look();
  }
  await checkNobodyStarves(life);
}

/** Everybody wants the newest version, and it succeeds: everybody gets it. */
async function checkNobodyStarves(life: Life): Promise<void> {
  const all = (step: (i: number) => Event) => {
    for (const i of life.fleet.keys()) life.happen(step(i));
  };
  life.happen({ do: 'resize', who: 0, maxConcurrent: 1 });
  for (const each of life.fleet) each.image ??= 'shop';
  all((i) => ({ do: 'end', who: i, bake: 'Succeeded' }));
  const isDone = () => life.fleet.every(({ selected, history: [head] }) => !selected || head?.tag === LAST);
  for (let look = 0; look < PATIENCE && !isDone(); look++) {
    for (const [
      i,
      {
        history: [head],
      },
    ] of life.fleet.entries()) {
      if (head?.tag !== LAST) life.happen({ do: 'ask', who: i, versions: [LAST] });
    }
    life.now += 61_000;
    await life.look();
    all((i) => ({ do: 'use', who: i }));
    await life.look();
    all((i) => ({ do: 'end', who: i, bake: 'Succeeded' }));
  }
  expectThat(isDone(), 'somebody starves', { fleet: life.fleet, slots: life.naive.slots });
}
