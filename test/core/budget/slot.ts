/** A slot that is granted and not used yet, with overrides. */
import type { Slot } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { NOW } from '../rollout/observedFixture.ts';

export const slot = (fields: Partial<Slot> = {}): Slot => ({
  namespace: 'team-a',
  name: 'app',
  uid: 'uid-1',
  request: 7,
  version: '1.2.0',
  rolloutRevision: 7,
  grantedTime: formatTime(NOW),
  state: 'Granted',
  ...fields,
});
