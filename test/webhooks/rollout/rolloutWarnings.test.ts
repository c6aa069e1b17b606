import { expect, it } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { rolloutWarnings } from '../../../webhooks/rollout/rolloutWarnings.ts';
import { NOW, rollout } from '../../hooks/rollout/call.ts';
import { annotated, P } from './call.ts';

const entry = (tag: string) => ({ version: { tag }, timestamp: '2026-01-01T00:00:00Z' });
const status: RolloutStatus = {
  history: [entry('1.0.0'), entry('0.9.0')],
  availableReleases: [{ tag: '1.0.0' }],
  releaseCandidates: [],
};

it.each([
  [
    'a pin to it: it is deployed',
    rollout({ wantedVersion: '0.9.0' }, status),
    'wantedVersion 0.9.0 ran before, but is no longer an available release: check that its image still exists',
  ],
  [
    'a force-deploy of it: it waits',
    annotated({ [`${P}force-deploy`]: '0.9.0' }, {}, status),
    'force-deploy: version 0.9.0 is no longer an available release and waits: set spec.wantedVersion to deploy it',
  ],
])('a version of the history that is no longer available: %s', async (_, next, warning) => {
  expect(await rolloutWarnings(next, rollout({}, status), fakeWebhookCall({ now: NOW }).call)).toEqual([warning]);
});
