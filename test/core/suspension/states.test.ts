/**
 * Every state of an object, every situation of its Gates, every kind of write: the suspension after it.
 *
 * A state in capitals has `spec.suspend: true`. In brackets is the value that `spec.suspend` gets back, if it had one.
 * Behind a closed Gate, `flux resume` is denied before, unless the write also names the Gate.
 */
import { describe, expect, it } from 'vitest';
import { AWAITS_ARTIFACT, GATE_STATE, KUSTOMIZATION_NAME_LABEL, SUSPENDED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { closedAmong, closureKeys } from '../../../core/gate/closedGates.ts';
import { formatInstant } from '../../../core/kube/time.ts';
import { settleSuspension } from '../../../core/suspension/suspension.ts';
import { kustomization, NOW } from '../admission/objects.ts';

type Write = Omit<Parameters<typeof settleSuspension>[0], 'old' | 'gates' | 'now'>;

const FREEZE = { key: 'ops/freeze', ref: { namespace: 'ops', name: 'freeze' } };
const FETCHING = { [AWAITS_ARTIFACT]: 'my-app=2/1.2.0/uid-my-app' };
const OPENING = `opening: ${formatInstant(NOW - 1000)}`;

/** The stored object: by its name in the table, `spec.suspend` and the annotations. */
const STORED: Record<string, [suspend: boolean | undefined, annotations: Record<string, string>]> = {
  'no state': [undefined, {}],
  'NO STATE': [true, {}],
  open: [undefined, { [GATE_STATE]: 'open' }],
  OPEN: [true, { [GATE_STATE]: 'open' }],
  FETCHING: [true, { [GATE_STATE]: 'open', [SUSPENDED]: 'unset', ...FETCHING }],
  CLOSED: [true, { [GATE_STATE]: 'closed: ops/freeze', [SUSPENDED]: 'unset' }],
  'CLOSED (true)': [true, { [GATE_STATE]: 'closed: ops/freeze', [SUSPENDED]: 'true' }],
  /** By a client, while the API server didn't call the webhook. */
  resumed: [undefined, { [GATE_STATE]: 'closed: ops/freeze', [SUSPENDED]: 'false' }],
  /** The same, while it awaits its artifact. */
  fetching: [undefined, { [GATE_STATE]: 'open', [SUSPENDED]: 'false', ...FETCHING }],
  OPENING: [true, { [GATE_STATE]: OPENING, [SUSPENDED]: 'unset' }],
  bypassed: [undefined, { [GATE_STATE]: 'bypassed: ops/freeze@first' }],
  /** SUSPENDED is left over from an earlier commit. */
  bypassing: [undefined, { [GATE_STATE]: 'bypassing: ops/freeze@first', [SUSPENDED]: 'unset' }],
  BYPASSING: [true, { [GATE_STATE]: 'bypassing: ops/freeze@first', [SUSPENDED]: 'unset', ...FETCHING }],
};

const WRITES: Record<string, (stored: FluxObject) => Partial<Write> & { sent: FluxObject }> = {
  'an edit': (stored) => ({
    sent: { ...stored, metadata: { ...stored.metadata, labels: { ...stored.metadata.labels, a: 'b' } } },
  }),
  'flux suspend': (stored) => ({ sent: withSuspend(stored, true) }),
  'flux resume': (stored) => ({ sent: withSuspend(stored, false) }),
  'its applier': (stored) => ({ sent: withApply(stored), fieldManager: 'kustomize-controller' }),
  'the decorator': (stored) => ({ sent: annotated(stored, { [GATE_STATE]: 'open' }) }),
  'a bypass': (stored) => ({ sent: withSuspend(stored, false), writerBypasses: true }),
  'a deployment that bypasses': (stored) => ({ sent: stored, deploymentBypasses: true }),
};

const LABELS = { [KUSTOMIZATION_NAME_LABEL]: 'apps' };
const annotated = (object: FluxObject, annotations: Record<string, string>): FluxObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});
const withSuspend = (object: FluxObject, suspend: boolean): FluxObject => ({
  ...object,
  spec: { ...object.spec, suspend },
});
const withApply = (object: FluxObject): FluxObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    managedFields: [
      { manager: 'kustomize-controller', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:interval': {} } } },
    ],
  },
});

interface Situation {
  requires?: boolean;
  closure?: string;
  isFetching?: boolean;
  labels?: Record<string, string>;
}

/** The state after a write, in the words of the table. */
function stateAfter(
  stored: string,
  write: string,
  { requires = true, closure, isFetching, labels = LABELS }: Situation,
): string {
  const [suspend, annotations] = STORED[stored]!;
  const spec = suspend === undefined ? {} : { suspend };
  const old = kustomization({ labels, annotations, spec });
  const { sent, ...writer } = WRITES[write]!(old);
  const { [AWAITS_ARTIFACT]: _, ...others } = sent.metadata.annotations ?? {};
  const fetching = isFetching ? FETCHING : {};
  const first = { ...sent, metadata: { ...sent.metadata, annotations: { ...others, ...fetching } } };
  const all = requires ? [{ ...FREEZE, isOpen: closure === undefined, message: '', closure }] : [];
  const settled = settleSuspension({
    object: first,
    sent,
    old,
    gates: { all, heldBy: closureKeys(closedAmong(all)) },
    fieldManager: undefined,
    writerBypasses: false,
    deploymentBypasses: false,
    now: NOW,
    ...writer,
  });
  const { [GATE_STATE]: state = 'no state', [SUSPENDED]: previous = 'unset' } = settled.metadata.annotations ?? {};
  const word = state.split(':')[0]!;
  const text = settled.spec?.suspend ? word.toUpperCase() : word;
  return previous === 'unset' ? text : `${text} (${previous})`;
}

const TABLES: [title: string, Situation, rows: string][] = [
  [
    'all Gates are open',
    {},
    `
    stored        | an edit        | flux suspend   | flux resume | its applier | the decorator  | a bypass | a deployment that bypasses
    no state      | open           | OPEN           | open        | open        | open           | open     | open
    NO STATE      | OPEN           | OPEN           | open        | OPEN        | OPEN           | open     | OPEN
    open          | open           | OPEN           | open        | open        | open           | open     | open
    OPEN          | OPEN           | OPEN           | open        | OPEN        | OPEN           | open     | OPEN
    FETCHING      | open           | open           | open        | open        | open           | open     | open
    CLOSED        | OPENING        | OPENING        | open        | open        | OPENING        | open     | OPENING
    CLOSED (true) | OPENING (true) | OPENING (true) | open        | OPEN        | OPENING (true) | open     | OPENING (true)
    resumed       | open           | OPEN           | open        | open        | open           | open     | open
    fetching      | open           | OPEN           | open        | open        | open           | open     | open
    OPENING       | OPENING        | OPENING        | open        | open        | OPENING        | open     | OPENING
    bypassed      | open           | OPEN           | open        | open        | open           | open     | open
    bypassing     | open           | OPEN           | open        | open        | open           | open     | open
    BYPASSING     | open           | open           | open        | open        | open           | open     | open
    `,
  ],
  [
    'a Gate is closed',
    { closure: 'first' },
    `
    stored        | an edit       | flux suspend  | flux resume    | its applier   | the decorator | a bypass | a deployment that bypasses
    no state      | CLOSED        | CLOSED (true) | CLOSED (false) | CLOSED        | CLOSED        | bypassed | bypassing
    NO STATE      | CLOSED (true) | CLOSED (true) | CLOSED (false) | CLOSED (true) | CLOSED (true) | bypassed | BYPASSING
    open          | CLOSED        | CLOSED (true) | CLOSED (false) | CLOSED        | CLOSED        | bypassed | bypassing
    OPEN          | CLOSED (true) | CLOSED (true) | CLOSED (false) | CLOSED (true) | CLOSED (true) | bypassed | BYPASSING
    FETCHING      | CLOSED        | CLOSED        | CLOSED         | CLOSED        | CLOSED        | bypassed | bypassing
    CLOSED        | CLOSED        | CLOSED        | CLOSED         | CLOSED        | CLOSED        | bypassed | bypassing
    CLOSED (true) | CLOSED (true) | CLOSED (true) | CLOSED (true)  | CLOSED (true) | CLOSED (true) | bypassed | BYPASSING
    resumed       | CLOSED        | CLOSED (true) | CLOSED (false) | CLOSED        | CLOSED        | bypassed | bypassing
    fetching      | CLOSED        | CLOSED (true) | CLOSED (false) | CLOSED        | CLOSED        | bypassed | bypassing
    OPENING       | CLOSED        | CLOSED        | CLOSED         | CLOSED        | CLOSED        | bypassed | bypassing
    bypassed      | bypassed      | BYPASSED      | bypassed       | bypassed      | bypassed      | bypassed | bypassed
    bypassing     | CLOSED        | CLOSED (true) | CLOSED (false) | CLOSED        | CLOSED        | bypassed | bypassing
    BYPASSING     | CLOSED        | CLOSED        | CLOSED         | CLOSED        | CLOSED        | bypassed | bypassing
    `,
  ],
  [
    'all Gates are open, and its source is fetching a new version',
    { isFetching: true },
    `
    stored        | an edit        | flux suspend   | flux resume     | its applier    | the decorator  | a bypass        | a deployment that bypasses
    no state      | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    NO STATE      | OPEN (true)    | OPEN (true)    | OPEN (false)    | OPEN (true)    | OPEN (true)    | OPEN (false)    | OPEN (true)
    open          | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    OPEN          | OPEN (true)    | OPEN (true)    | OPEN (false)    | OPEN (true)    | OPEN (true)    | OPEN (false)    | OPEN (true)
    FETCHING      | OPEN           | OPEN           | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    CLOSED        | OPENING        | OPENING        | OPEN (false)    | OPEN           | OPENING        | OPEN (false)    | OPENING
    CLOSED (true) | OPENING (true) | OPENING (true) | OPEN (false)    | OPEN (true)    | OPENING (true) | OPEN (false)    | OPENING (true)
    resumed       | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    fetching      | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    OPENING       | OPENING        | OPENING        | OPEN (false)    | OPEN           | OPENING        | OPEN (false)    | OPENING
    bypassed      | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    bypassing     | OPEN           | OPEN (true)    | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    BYPASSING     | OPEN           | OPEN           | OPEN (false)    | OPEN           | OPEN           | OPEN (false)    | OPEN
    `,
  ],
];

const PAIRS = Object.keys(STORED).flatMap((stored) => Object.keys(WRITES).map((write) => [stored, write] as const));

describe.each(TABLES)('%s', (_title, situation, rows) => {
  const [[, ...writes] = [], ...states] = rows
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it.each(states)('%s', (stored, ...after) => {
    expect(writes.map((write) => stateAfter(stored!, write, situation))).toEqual(after);
  });

  it('has a row for every state and a column for every write', () => {
    expect(writes).toEqual(Object.keys(WRITES));
    expect(states.map(([stored]) => stored)).toEqual(Object.keys(STORED));
  });
});

describe.each(PAIRS)('%s, %s', (stored, write) => {
  it.each([{}, { isFetching: true }])('without Gates: as with open ones, but for the state open', (situation) => {
    const expected = stateAfter(stored, write, situation).replace(/^open\b/i, (word) =>
      word === 'open' ? 'no state' : 'NO STATE',
    );
    expect(stateAfter(stored, write, { ...situation, requires: false })).toBe(expected);
  });

  it('its Gate has closed again: as at the first closure, but no bypass counts', () => {
    const isBypassed = stored === 'bypassed' && write !== 'a bypass';
    const asStored = isBypassed ? 'open' : stored;
    expect(stateAfter(stored, write, { closure: 'second' })).toBe(stateAfter(asStored, write, { closure: 'first' }));
  });

  it('its source is fetching: behind a closed Gate only a bypassing deployment waits for that', () => {
    const atRest = stateAfter(stored, write, { closure: 'first' });
    const expected = { bypassing: 'BYPASSING', BYPASSING: 'BYPASSING (true)' }[atRest] ?? atRest;
    expect(stateAfter(stored, write, { closure: 'first', isFetching: true })).toBe(expected);
  });
});

describe.each(['CLOSED', 'OPENING'])('an object that nothing applies waits for no apply: %s', (stored) => {
  it.each(Object.keys(WRITES))('%s', (write) => {
    expect(stateAfter(stored, write, { labels: {} })).toMatch(/^open$/i);
    expect(stateAfter(stored, write, { labels: {}, isFetching: true })).toMatch(/^OPEN( \(false\))?$/);
  });
});
