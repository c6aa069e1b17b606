/** A write that the webhook can't read is denied if an error would allow it. */
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { UnreadBody } from '../../api/ports.ts';
import { fakeCluster, fakeWebhookCall } from '../../dev/fakes/ports.ts';
import { ApiError } from '../../server/cluster/apiError.ts';
import { createApp } from '../../server/http/app.ts';
import { createLog } from '../../server/log.ts';
import { createMetrics } from '../../server/servedMetrics.ts';
import { webhookRoutes } from '../../webhooks/index.ts';
import { reviewOfUnread } from '../../webhooks/unreadReview.ts';
import { responseOf } from '../support/admission.ts';
import { kubeObject } from '../support/objects.ts';

const FAILS_OPEN = 'mutate/flux-fails-open';

/** The request as the API server sends it: Go writes six bytes for each `<`. */
function review(status: string): string {
  const kind = { group: 'kustomize.toolkit.fluxcd.io', version: 'v1', kind: 'Kustomization' };
  const object = kubeObject('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'shop/web', {
    spec: { path: './' },
    status: { filler: status },
  });
  const asked = { uid: 'u-1', kind, name: 'web', namespace: 'shop', operation: 'CREATE', userInfo: {}, object };
  const whole = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: asked };
  return JSON.stringify(whole).replaceAll('<', '\\u003c');
}

const LARGE = review('<'.repeat(600_000));

describe('a review that is too large', () => {
  const { call, counts } = fakeWebhookCall({ now: 0 });
  const routes = webhookRoutes(() => call);
  const app = createApp({ routes, log: createLog('silent'), metrics: createMetrics(), notReady: () => undefined });
  const post = (path: string, body: string) =>
    request(app).post(`/admission/${path}`).set('Content-Type', 'application/json').send(body);

  it('is denied by the webhook that fails open', async () => {
    const { status, body } = await post(FAILS_OPEN, LARGE);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'u-1', allowed: false, status: { code: 413, reason: 'RequestEntityTooLarge' } },
    });
    expect(body.response.status.message).toMatch(/larger than 3145728 bytes\), .*: make the object smaller/);
    expect(counts).toContainEqual({ name: 'rollout_hooks_admission_denials_total', labels: { reason: 'limit' } });
  });

  it('is an error where that refuses the write already, and where it is no review', async () => {
    expect((await post('mutate/flux', LARGE)).status).toBe(413);
    expect((await post(FAILS_OPEN, JSON.stringify({ filler: LARGE }))).status).toBe(413);
  });
});

it.each([
  ['in time is counted and logged', new AbortController().signal, true],
  ['after the write was denied is not', AbortSignal.abort(), false],
])('a decision %s', async (_, late, isRecorded) => {
  const { call, counts } = fakeWebhookCall({ now: 0 });
  const logged: unknown[] = [];
  const log = {
    decided: (line: unknown) => logged.push(line),
    considered: (line: () => unknown) => logged.push(line()),
  };
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, '']));
  const object = kubeObject('kuberik.com/v1alpha1', 'Rollout', 'shop/web', { metadata: { labels } });
  await responseOf('mutate/rollout', { object }, call, { log, late });
  expect([counts.length > 0, logged.length > 0]).toEqual([isRecorded, isRecorded]);
});

describe('a write whose Gates can’t be read', () => {
  const object = kubeObject('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'shop/web', { spec: { path: './' } });
  const answerAfter = (code: number) => {
    const listAtMost = () => Promise.reject(new ApiError(code, '', 'the API server fails'));
    const { call, counts } = fakeWebhookCall({ now: 0, cluster: { ...fakeCluster([]), listAtMost } });
    return { counts, answering: responseOf(FAILS_OPEN, { object }, call) };
  };

  it.each([
    ['has no answer', 0],
    ['is overloaded', 429],
    ['fails', 500],
    ['is not ready', 503],
  ])('is denied if the API server %s: a tenant can cause that', async (_what, code) => {
    const { answering, counts } = answerAfter(code);
    expect(await answering).toMatchObject({
      allowed: false,
      status: { message: expect.stringMatching(/Gates .*cannot be read.* try again/) },
    });
    expect(counts).toEqual([{ name: 'rollout_hooks_admission_denials_total', labels: { reason: 'limit' } }]);
  });

  it.each([
    ['lacks the right to read them', 403],
    ['lacks their kind', 404],
  ])('is an error, which allows it, if this installation %s: every write would be denied', async (_what, code) => {
    await expect(answerAfter(code).answering).rejects.toMatchObject({ code });
  });
});

describe('the denial of a write that was not read', () => {
  it.each<[UnreadBody['why'], number, string]>([
    ['tooLarge', 413, 'leave out its status'],
    ['busy', 429, 'if that keeps failing'],
    ['slow', 429, 'try again later'],
  ])('%s has code %i and says what to do', async (why, code, fix) => {
    const beginning = Promise.resolve(LARGE.slice(0, 100));
    const { response } = (await reviewOfUnread({ why, message: 'because', beginning }))!;
    expect(response).toMatchObject({ uid: 'u-1', allowed: false, status: { code } });
    expect(response!.status!.message).toContain('(because)');
    expect(response!.status!.message).toContain(fix);
  });

  it.each([
    ['nothing', ''],
    ['a uid that is cut off', LARGE.slice(0, LARGE.indexOf('u-1') + 2)],
    ['a uid in the text of a user', '{"kind":"x","filler":"\\"request\\":{\\"uid\\":\\"u-2\\"}"'],
  ])('needs the uid of the review: not %s', async (_what, text) => {
    expect(await reviewOfUnread({ why: 'tooLarge', message: '', beginning: Promise.resolve(text) })).toBe(undefined);
  });
});
