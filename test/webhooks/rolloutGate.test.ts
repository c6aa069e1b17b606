import { describe, expect, it } from 'vitest';
import { mutateRolloutGate } from '../../webhooks/rolloutGate.ts';
import { object } from '../hooks/rollout/call.ts';
import { call, P, write } from './rollout/call.ts';

describe('mutate/rolloutgate', () => {
  it('labels a gate with its Rollout, shortened where the name is too long', async () => {
    const gate = (name: string) =>
      object('kuberik.com/v1alpha1', 'RolloutGate', 'g', { rolloutRef: { name }, passing: true });
    const labelOf = async (name: string) => {
      const verdict = await mutateRolloutGate(write({ object: gate(name) }), call().webhookCall);
      return verdict.allowed ? verdict.object?.metadata.labels?.[`${P}rollout-name`] : undefined;
    };
    expect(await labelOf('app')).toBe('app');
    expect((await labelOf('a'.repeat(253)))!.length).toBe(63);
    expect(await labelOf('')).toBeUndefined();
  });
});
