import { describe, expect, it } from 'vitest';
import { DEPLOY_USER, FORCE_DEPLOY, REQUEST, RETRY, UNBLOCK_FAILED } from '../../../../api/annotations.ts';
import {
  formatRequestIds,
  handledRequests,
  parseRequestIds,
  requestsOf,
  usedAnnotations,
} from '../../../../core/rollout/evaluation/rolloutRequests.ts';
import { observed } from '../observedFixture.ts';

function rollout(annotations: Record<string, string>, handledRequest: Record<string, string> = {}) {
  const { rollout: base } = observed({}, { handledRequest });
  return { ...base, metadata: { ...base.metadata, annotations } };
}

describe('one-shot requests', () => {
  it('are open until their id is recorded', () => {
    const asked = rollout(
      { [RETRY]: '', [FORCE_DEPLOY]: '1.0.0', [REQUEST]: 'retry=a,force-deploy=b' },
      { retry: 'a' },
    );
    expect(requestsOf(asked)).toMatchObject({ retry: false, forceDeploy: '1.0.0', pending: ['force-deploy'] });
    expect(usedAnnotations(asked)).toEqual([RETRY]);
  });

  it('are new again with a new id', () => {
    const again = rollout({ [RETRY]: '', [REQUEST]: 'retry=b' }, { retry: 'a' });
    expect(requestsOf(again).retry).toBe(true);
    expect(usedAnnotations(again)).toEqual([]);
  });

  it('act once without an id, too', () => {
    expect(requestsOf(rollout({ [RETRY]: '' })).retry).toBe(true);
    expect(requestsOf(rollout({ [RETRY]: '' }, { retry: 'unstamped' })).retry).toBe(false);
  });

  it('are none if they are empty, except retry, which needs no value', () => {
    const empty = requestsOf(rollout({ [FORCE_DEPLOY]: '', [DEPLOY_USER]: '', [UNBLOCK_FAILED]: 'yes', [RETRY]: '' }));
    expect(empty).toMatchObject({ unblockFailed: false, retry: true });
    expect(empty).not.toHaveProperty('forceDeploy');
    expect(empty).not.toHaveProperty('deployUser');
  });

  it('are removed with their annotation', () => {
    const one = rollout({ [RETRY]: '', [REQUEST]: 'retry=b' }, { retry: 'a', 'force-deploy': 'x' });
    expect(handledRequests(one, new Set())).toEqual({ retry: 'a' });
    expect(handledRequests(one, new Set(['retry']))).toEqual({ retry: 'b' });
    expect(handledRequests(rollout({}, { retry: 'a' }), new Set(['retry']))).toBeUndefined();
  });

  it('are written as text and read back; invalid ids are left out', () => {
    const ids = { retry: 'a', 'force-deploy': 'b' };
    expect(formatRequestIds(ids)).toBe('force-deploy=b,retry=a');
    expect(parseRequestIds(formatRequestIds(ids))).toEqual(ids);
    expect(parseRequestIds('retry,=x,y=,a=b=c,,ok=1')).toEqual({ ok: '1' });
  });
});
