/** The record of a reason on a Flux object is `gate.fluxcd.io/bypassed-by`, if the reason bypasses a Gate. */
import { describe, expect, it } from 'vitest';
import { BYPASS_REASON, BYPASSED_BY } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { annotate } from '../../../core/kube/annotate.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { deployment, gate, kustomization, rollout } from '../../core/admission/objects.ts';
import { type Context, send } from '../../support/admission.ts';
import { namespaceOf } from '../../support/objects.ts';

const closed = gate('shop/freeze');
const gated = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } });
/** Requires no Gate; its Rollout requires shop/freeze. */
const loose = kustomization({ deployed: deployment('my-app', 1, '1.1.0') });
const app = rollout('my-app', '1.1.0');
const gatedApp = { ...app, spec: { ...app.spec, gates: [{ name: 'freeze' }] } };

it.each<[title: string, oldObject: FluxObject, context: Context, by: string | undefined, warnings: string[]]>([
  [
    'behind a closed Gate, by somebody who may bypass it',
    gated,
    { objects: [closed], may: ['sre bypass shop/freeze'] },
    '2026-03-04T10:00:00Z sre',
    [expect.stringContaining('stored, but still suspended')],
  ],
  [
    'by somebody who may not: none, and a Warning',
    gated,
    { objects: [closed] },
    undefined,
    ["Bypass denied: sre isn't allowed to bypass Gate shop/freeze (verb bypass)"],
  ],
  [
    'where the Gate is open: none',
    gated,
    { objects: [gate('shop/freeze', { default: 'opened' })], may: ['sre bypass shop/freeze'] },
    undefined,
    [],
  ],
  [
    'of an object without a Gate of its own: for its deletion, behind a closed Gate of its Rollout',
    loose,
    { objects: [gatedApp, closed], may: ['sre bypass shop/freeze'] },
    '2026-03-04T10:00:00Z sre',
    [],
  ],
  ['the same by somebody who may not: none', loose, { objects: [gatedApp, closed] }, undefined, []],
])('%s', async (_, oldObject, context, by, warnings) => {
  const object = annotate(oldObject, BYPASS_REASON, 'INC-1');
  const answer = await send(mutateFlux, { object, oldObject, user: { username: 'sre' } }, context);
  expect(answer).toMatchObject({ allowed: true, warnings });
  expect(answer.object?.metadata.annotations?.[BYPASSED_BY]).toBe(by);
});

describe('the record of a bypass stays, and counts for nothing, when the next write', () => {
  const record = '2026-03-04T10:00:00Z sre';
  const bypassed = annotate(annotate(gated, BYPASS_REASON, 'INC-1'), BYPASSED_BY, record);
  const ended = `earlier: ${record}: INC-1`;
  const sre = { username: 'sre' };
  const may = ['sre bypass shop/freeze'];

  it.each<[title: string, oldObject: FluxObject, reason: string | undefined, open?: true]>([
    ['removes the reason', bypassed, undefined],
    ['gives another reason, for which no Gate is closed', bypassed, 'INC-2', true],
    ['comes after that', annotate(annotate(bypassed, BYPASS_REASON, undefined), BYPASSED_BY, ended), undefined],
    [
      'gives the same reason again, for which no Gate is closed',
      annotate(annotate(bypassed, BYPASS_REASON, undefined), BYPASSED_BY, ended),
      'INC-1',
      true,
    ],
  ])('%s', async (_, oldObject, reason, open) => {
    const objects = [gate('shop/freeze', open ? { default: 'opened' } : {})];
    const object = annotate(annotate(oldObject, BYPASS_REASON, reason), 'note', 'x');
    const answer = await send(mutateFlux, { object, oldObject, user: sre }, { objects, may });
    expect(answer.object?.metadata.annotations?.[BYPASSED_BY]).toBe(ended);
    const deletion = { oldObject: answer.object!, user: sre };
    const namespace = namespaceOf('shop');
    expect(await send(validateFlux, deletion, { objects: [closed, namespace], may })).toMatchObject({
      allowed: false,
    });
  });
});

it('the Event of a bypass also waits for the record as it stays without its reason', async () => {
  // A PUT may leave out the uid.
  const object = annotate(
    { ...gated, metadata: { ...gated.metadata, uid: undefined as never } },
    BYPASS_REASON,
    'INC-1',
  );
  const context = { objects: [closed], may: ['sre bypass shop/freeze'] };
  const user = { username: 'sre' };
  const { object: stored, facts } = await send(mutateFlux, { object, oldObject: gated, user }, context);
  expect(facts).toMatchObject([{ uid: gated.metadata.uid }]);
  const removal = { object: annotate(stored!, BYPASS_REASON, undefined), oldObject: stored!, user };
  const after = (await send(mutateFlux, removal, context)).object?.metadata.annotations;
  expect(facts).toMatchObject([{ annotations: expect.arrayContaining([{ [BYPASSED_BY]: after?.[BYPASSED_BY] }]) }]);
});

it.each([
  ['a reason without end', 'sre', 'x'.repeat(4097), /Bypass denied: the reason has 4097 characters/],
  ['a user’s name without end', 's'.repeat(257), 'INC-1', /Bypass denied: users with names longer than 256 characters/],
])('%s bypasses nothing, because it is kept in memory until the write is stored', async (_, username, reason, why) => {
  const write = { object: annotate(gated, BYPASS_REASON, reason), oldObject: gated, user: { username } };
  const object = { ...write.object, spec: { ...gated.spec, path: './next' } };
  const context = { objects: [closed], may: [`${username} bypass shop/freeze`] };
  const { message, facts } = await send(mutateFlux, { ...write, object }, context);
  expect(message).toMatch(why);
  expect(facts).toEqual([]);
});

describe('of many Gates, whose names and number a tenant chooses,', () => {
  const names = Array.from({ length: 100 }, (_, i) => `gate-${i}`);
  const named = (reason: object) =>
    kustomization({ annotations: { 'gate.fluxcd.io/gates': names.join(), ...reason }, spec: { path: './next' } });
  const write = {
    object: named({ 'gate.fluxcd.io/bypass-reason': `INC-1 ${'x'.repeat(1000)}` }),
    oldObject: named({}),
    user: { username: 'sre' },
  };

  it('the refusal of a bypass names a few', async () => {
    const { message } = await send(mutateFlux, { ...write, object: { ...write.object, spec: { path: './other' } } });
    expect(message).toMatch(/isn't allowed to bypass Gates shop\/gate-0, .* and 80 more \(verb bypass\)/);
  });

  it('a bypass is recorded with a few, and with as much of the reason as is stored', async () => {
    const { audit, events } = await send(mutateFlux, write, { may: names.map((name) => `sre bypass shop/${name}`) });
    expect(audit.bypass).toMatch(/^sre bypassed shop\/gate-0, .* and 80 more \(UPDATE\): INC-1 x+$/);
    expect(audit.bypass!.length).toBeLessThan(600);
    expect(events).toMatchObject([{ message: audit.bypass }]);
  });
});
