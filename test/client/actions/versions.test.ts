/** Actions for one version of a Rollout. */
import { describe, expect, it } from 'vitest';
import { versionActions } from '../../../client/actions/rolloutActions.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { objectOf } from '../../support/objects.ts';
import { at, entry, NOW, said } from './offers.ts';

describe('a version of the history, or a release', () => {
  const application = (spec: object, history: object[]) =>
    explainRollout(objectOf('Rollout', { metadata: at, spec, status: { history } } as never), NO_RELATED, NOW);
  const FORWARD = [entry('1.1.0', 3, 'Succeeded'), entry('1.0.0', 2, 'Succeeded'), entry('0.9.0', 1, 'Failed')];
  const BACK = [entry('1.0.0', 4, 'Succeeded'), ...FORWARD];

  it.each<[string, object, object[], string, string[]]>([
    ['that runs is pinned', {}, FORWARD, '1.1.0', ['pin 1.1.0']],
    ['that ran before is gone back to', {}, FORWARD, '1.0.0', ['rollback 1.0.0']],
    ['that failed is deployed', {}, FORWARD, '0.9.0', ['deploy 0.9.0', 'pin 0.9.0']],
    ['that was rolled back from is deployed', {}, BACK, '1.1.0', ['deploy 1.1.0', 'pin 1.1.0']],
    ['that never ran is deployed', {}, FORWARD, '1.2.0', ['deploy 1.2.0', 'pin 1.2.0']],
    ['that never ran is pinned instead of another', { wantedVersion: '1.1.0' }, FORWARD, '1.2.0', ['pin 1.2.0']],
    ['that is pinned already', { wantedVersion: '1.1.0' }, FORWARD, '1.1.0', []],
  ])('%s', (_, spec, history, version, types) => {
    expect(versionActions(application(spec, history), version, 0).map(said)).toEqual(types);
  });
});
