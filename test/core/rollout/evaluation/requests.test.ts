import { describe, expect, it } from 'vitest';
import { DEPLOY_USER, FORCE_DEPLOY, REQUEST, RETRY, UNBLOCK_FAILED } from '../../../../api/annotations.ts';
import { handledRequests, requestsOf, setRequests } from '../../../../core/rollout/evaluation/rolloutRequests.ts';
import { observed } from '../observedFixture.ts';

function rollout(annotations: Record<string, string>, handledRequest: Record<string, string> = {}) {
  const { rollout: base } = observed({}, { handledRequest });
  return { ...base, metadata: { ...base.metadata, annotations } };
}

const handledIn = (each: ReturnType<typeof rollout>) =>
  setRequests(each).flatMap(({ annotation, isHandled }) => (isHandled ? [annotation] : []));

const recorded = (ids: Record<string, string>) => {
  const records = Object.entries(ids).map(([key, id]) => [key, { id, by: 'alice', at: '2026-03-01T11:00:00Z' }]);
  return { [REQUEST]: JSON.stringify(Object.fromEntries(records)) };
};

describe('one-shot requests', () => {
  it('are open until their id is recorded', () => {
    const asked = rollout(
      { [RETRY]: '', [FORCE_DEPLOY]: '1.0.0', ...recorded({ retry: 'a', 'force-deploy': 'b' }) },
      { retry: 'a' },
    );
    expect(requestsOf(asked)).toMatchObject({ retry: false, forceDeploy: '1.0.0', pending: ['force-deploy'] });
    expect(handledIn(asked)).toEqual([RETRY]);
  });

  it('are new again with a new id', () => {
    const again = rollout({ [RETRY]: '', ...recorded({ retry: 'b' }) }, { retry: 'a' });
    expect(requestsOf(again).retry).toBe(true);
    expect(handledIn(again)).toEqual([]);
  });

  it('act once without an id, too', () => {
    expect(requestsOf(rollout({ [RETRY]: '' })).retry).toBe(true);
    expect(requestsOf(rollout({ [RETRY]: '' }, { retry: 'unstamped' })).retry).toBe(false);
  });

  it('don’t act again if an earlier commit has recorded and handled them', () => {
    const old = rollout({ [FORCE_DEPLOY]: '1.0.0', [REQUEST]: 'force-deploy=a' }, { 'force-deploy': 'a' });
    expect(requestsOf(old).pending).toEqual([]);
    expect(handledIn(old)).toEqual([FORCE_DEPLOY]);
    expect(handledRequests(old, new Set())).toEqual({ 'force-deploy': 'a' });
  });

  it('are none if they are empty, except retry, which needs no value', () => {
    const empty = requestsOf(rollout({ [FORCE_DEPLOY]: '', [DEPLOY_USER]: '', [UNBLOCK_FAILED]: 'yes', [RETRY]: '' }));
    expect(empty).toMatchObject({ unblockFailed: false, retry: true });
    expect(empty.forceDeploy).toBeUndefined();
    expect(empty.deployUser).toBeUndefined();
  });

  it('are removed with their annotation', () => {
    const one = rollout({ [RETRY]: '', ...recorded({ retry: 'b' }) }, { retry: 'a', 'force-deploy': 'x' });
    expect(handledRequests(one, new Set())).toEqual({ retry: 'a' });
    expect(handledRequests(one, new Set(['retry']))).toEqual({ retry: 'b' });
    expect(handledRequests(rollout({}, { retry: 'a' }), new Set(['retry']))).toBeUndefined();
  });

  it.each(['{', 'null', '"retry"', '{"retry":1}', '{"retry":{"id":"a"}}', '{"retry":{"by":"b","at":"2026-03-01"}}'])(
    'have no record in %s, which the webhook did not write',
    (text) =>
      expect(setRequests(rollout({ [RETRY]: '', [REQUEST]: text }))).toMatchObject([
        { key: 'retry', record: undefined },
      ]),
  );
});
