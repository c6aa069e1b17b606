import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { validateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { NOW, rollout } from '../../hooks/rollout/call.ts';
import { admitted } from './call.ts';

const AT = formatTime(NOW);

describe('spec.initialVersion', () => {
  const ran = { history: [{ id: 1, version: { tag: '0.9.0' }, timestamp: AT }] };

  it.each<[string, string | undefined, string | undefined, Rollout['status'], boolean]>([
    ['may stay', '1.0.0', '1.0.0', undefined, true],
    ['may be removed', '1.0.0', undefined, undefined, true],
    ['may be emptied', '1.0.0', '', undefined, true],
    ['may not be added', undefined, '1.0.0', undefined, false],
    ['may not be added with an empty history', undefined, '1.0.0', { history: [] }, false],
    ['may not be filled', '', '1.0.0', undefined, false],
    ['may not be changed', '1.0.0', '6.6.6', undefined, false],
    ['means nothing once there is a history, and may be written', undefined, '1.0.0', ran, true],
  ])('%s', async (_, from, to, status, isAllowed) => {
    const of = (initialVersion: string | undefined) => rollout(initialVersion === undefined ? {} : { initialVersion });
    const old = { ...of(from), ...(status && { status }) };
    // The API server drops the status of a write of the object.
    const result = await admitted(validateRollout, { object: { ...of(to), status: ran }, old });
    expect(result.allowed).toBe(isAllowed);
    if (!result.allowed) expect(result.message).toContain('spec.initialVersion "');
  });

  it('may be set when the Rollout is created', async () => {
    const object = rollout({ initialVersion: '1.0.0' });
    expect(await admitted(validateRollout, { object })).toMatchObject({ allowed: true });
  });

  it.each([
    { title: 'is refused while its gates hold it', before: undefined, after: false, refused: true },
    { title: 'is refused where the Rollout says true', before: true, after: false, refused: true },
    { title: 'is allowed where it was false', before: false, after: false, refused: false },
    { title: 'the other way round is allowed', before: false, after: true, refused: false },
  ])('gateFirstDeployment false $title', async ({ before, after, refused }) => {
    const of = (first: boolean | undefined) =>
      rollout({ initialVersion: '1.0.0', ...(first !== undefined && { gateFirstDeployment: first }) });
    const result = await admitted(validateRollout, { object: of(after), old: of(before) });
    expect(result.allowed).toBe(!refused);
    if (!result.allowed) expect(result.message).toContain('spec.gateFirstDeployment cannot become false');
  });
});
