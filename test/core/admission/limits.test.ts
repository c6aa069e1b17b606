/** An object beyond a limit is held, and its message names that limit. Warnings are not cut. */
import { describe, expect, it } from 'vitest';
import { GATE_STATE } from '../../../api/annotations.ts';
import { decideWrite } from '../../../core/admission/fluxWrite.ts';
import { limitDenial } from '../../../core/admission/writeLimits.ts';
import { closedText, LIMIT_OF_GATES, LIMIT_OF_ROLLOUTS, LIMIT_TEXTS } from '../../../core/gate/closedGates.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { refKey } from '../../../core/kube/names.ts';
import { LIMITS } from '../../../core/limits.ts';
import {
  bypassedSentences,
  bypassWarning,
  closedSentences,
  denialText,
  revertWarning,
} from '../../../core/objectGates/gateTexts.ts';
import { evaluateObjectGates, foreignText } from '../../../core/objectGates/objectGates.ts';
import { currentState, formatState } from '../../../core/objectGates/objectState.ts';
import { kustomization, NO_SELECTING_GATES } from './objects.ts';

const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));
const gates = each(LIMITS.requiredGates + 1, (i) => `gate-${i}`).join();
const claims = (count: number, rollout: (i: number) => string) =>
  Object.fromEntries(each(count, (i) => [`rollout.kuberik.com/substitute.V${i}.from`, rollout(i)]));

describe('an object beyond a limit', () => {
  const rows: [title: string, annotations: Record<string, string>, message: RegExp][] = [
    ['Gates', { 'gate.fluxcd.io/gates': gates }, /limits requiredGates/],
    ['Rollouts', claims(LIMITS.boundRollouts + 1, (i) => `app-${i}`), /limits boundRollouts/],
    ['variables', claims(LIMITS.managedFields + 1, () => 'app'), /managedFields\): name fewer/],
  ];
  it.each(rows)('is held by its number of %s, and no bypass lasts', (_, annotations, message) => {
    const object = kustomization({ annotations });
    const found = evaluateObjectGates(object, {
      ...ANY_REF,
      gates: new Map(),
      selectingGates: NO_SELECTING_GATES,
      now: 0,
    });
    expect(closedText(found.closed!)).toMatch(message);
    const state = formatState({ is: 'bypassed', gates: found.heldBy });
    expect(currentState(kustomization({ annotations: { [GATE_STATE]: state } }), found.heldBy)).toBe('closed');
  });

  it.each(rows)('with too many %s: no text names a Gate that does not exist', (_, annotations, message) => {
    const context = { ...ANY_REF, gates: new Map(), selectingGates: NO_SELECTING_GATES, now: 0 };
    const closed = evaluateObjectGates(kustomization({ annotations }), context).closed!;
    const texts = [
      revertWarning(closed),
      denialText({ reason: 'gate_closed', text: '', closed }, 'shop').text,
      ...closedSentences(closed),
      ...bypassedSentences(closed),
    ];
    for (const text of texts) expect(text).toMatch(message);
    for (const text of [...texts, bypassWarning('1.0.0', closed)]) expect(text).not.toMatch(/\(too-many/);
  });

  it.each(rows)('with too many %s: a Warning says so once, not in each write', (_, annotations, message) => {
    const context = { ...ANY_REF, gates: new Map(), selectingGates: NO_SELECTING_GATES, rollouts: new Map(), now: 0 };
    const write = { ...context, user: 'dev', fieldManager: 'kubectl', isSync: false };
    const first = decideWrite({ ...write, object: kustomization({ annotations }), old: undefined });
    if (first.denial) throw new Error(first.denial.text);
    const again = decideWrite({ ...write, object: first.object, old: first.object });
    expect([first, again].map(({ warnings }) => warnings.filter((text) => message.test(text)).length)).toEqual([1, 0]);
  });

  const invalid: (typeof rows)[number] = ['a reference', { 'gate.fluxcd.io/gates': 'a/b/c' }, /does not name a Gate/];
  it.each([...rows, invalid])(
    'created with %s: Warnings name no Gate that does not exist',
    (_, annotations, message) => {
      const context = { ...ANY_REF, gates: new Map(), selectingGates: NO_SELECTING_GATES, rollouts: new Map(), now: 0 };
      const object = kustomization({ annotations });
      const { warnings } = decideWrite({ ...context, object, user: 'dev', fieldManager: 'kubectl', isSync: false });
      expect(warnings).toContainEqual(expect.stringMatching(message));
      expect(warnings.join()).not.toMatch(/Gate \(/);
    },
  );
});

it.each(['annotations', 'labels'] as const)('more %s than the limit are refused, unless they were there', (field) => {
  const withMany = (count: number) => {
    const object = kustomization();
    return {
      ...object,
      metadata: { ...object.metadata, [field]: Object.fromEntries(each(count, (i) => [`k${i}`, ''])) },
    };
  };
  const [most, more] = [withMany(LIMITS[field]), withMany(LIMITS[field] + 1)];
  expect(limitDenial(most, undefined, ANY_REF)).toBeUndefined();
  expect(limitDenial(more, undefined, ANY_REF)?.text).toMatch(/ has 513 entries, and at most 512 are allowed/);
  expect(limitDenial(more, most, ANY_REF)?.text).toMatch(/ has 513 entries/);
  expect(limitDenial(more, more, ANY_REF)).toBeUndefined();
});

it('our annotations come on top of as many as a user may write', () => {
  const annotations = Object.fromEntries(each(LIMITS.annotations, (i) => [`k${i}`, '']));
  const before = kustomization({ annotations });
  const marked = kustomization({ annotations: { ...annotations, 'gate.fluxcd.io/state': 'closed: prod/freeze' } });
  expect(limitDenial(marked, before, ANY_REF)).toBeUndefined();
});

describe('a Warning with names of 20 characters has at most 120', () => {
  const ref = { namespace: 'n'.repeat(20), name: 'g'.repeat(20) };
  const closed = { key: refKey(ref), ref, isOpen: false, message: 'closed' };
  it.each([
    `held: ${LIMIT_TEXTS[LIMIT_OF_GATES]}`,
    `held: ${LIMIT_TEXTS[LIMIT_OF_ROLLOUTS]}`,
    foreignText(ref),
    bypassWarning('v'.repeat(20), { gates: [closed] }),
  ])('%s', (warning) => {
    expect(warning.length).toBeLessThanOrEqual(120);
  });

  it('and one about more Gates is cut after its action', () => {
    expect(revertWarning({ gates: [closed, closed] }).slice(0, 119)).toContain('Apply again after it opens');
  });
});
