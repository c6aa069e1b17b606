import { describe, expect, it } from 'vitest';
import { parseCustomizeAnswer, parseSyncAnswer } from '../../../../dev/engine/hooks/answers.ts';

const NOTHING = {
  status: undefined,
  objects: [],
  labels: {},
  annotations: {},
  resyncAfterSeconds: 0,
};
const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('answers that are accepted', () => {
  it.each<[string, object]>([
    ['{}', NOTHING],
    ['null', NOTHING],
    ['{"status":null,"children":null,"resyncAfterSeconds":null,"finalized":null}', NOTHING],
    ['{"status":{"phase":"Ready"},"resyncAfterSeconds":0.5}', { status: { phase: 'Ready' }, resyncAfterSeconds: 0.5 }],
    [JSON.stringify({ children: [child], finalized: true }), { objects: [child] }],
  ])('composite: %s', (body, expected) => {
    expect(parseSyncAnswer('composite', body)).toEqual({ ...NOTHING, ...expected });
  });

  it('decorator: null removes a label or an annotation', () => {
    const body = JSON.stringify({ labels: { a: null }, annotations: { b: 'c' }, attachments: [child] });
    expect(parseSyncAnswer('decorator', body)).toMatchObject({
      labels: { a: null },
      annotations: { b: 'c' },
      objects: [child],
    });
  });

  it('customize: rules as they are', () => {
    const rule = { apiVersion: 'v1', resource: 'configmaps', namespace: 'a', names: [], labelSelector: null };
    expect(parseCustomizeAnswer(JSON.stringify({ relatedResources: [rule] }))).toEqual([rule]);
    expect(parseCustomizeAnswer('{}')).toEqual([]);
  });
});

describe('answers that fail the sync', () => {
  it.each<[string, RegExp]>([
    ['', /not JSON/],
    ['<html>', /not JSON/],
    ['[]', /expected object/],
    ['{"attachments":[]}', /Unrecognized key: "attachments"/],
    ['{"labels":{}}', /Unrecognized key: "labels"/],
    ['{"status":"Ready"}', /status: .*expected record, received string/],
    ['{"children":{}}', /children: .*expected array/],
    ['{"children":[{"apiVersion":"v1","metadata":{}}]}', /children\.0\.kind: .*expected string, received undefined/],
    [
      JSON.stringify({ children: [{ ...child, metadata: { labels: { a: 1 } } }] }),
      /children\.0\.metadata\.labels\.a: .*expected string, received number/,
    ],
    ['{"resyncAfterSeconds":"5"}', /resyncAfterSeconds: .*expected number/],
    ['{"finalized":"yes"}', /finalized: .*expected boolean/],
  ])('composite: %s', (body, message) => {
    expect(() => parseSyncAnswer('composite', body)).toThrow(message);
  });

  it.each<[string, RegExp]>([
    ['{"children":[]}', /Unrecognized key: "children"/],
    ['{"annotations":{"a":1}}', /annotations\.a: .*expected string, received number/],
  ])('decorator: %s', (body, message) => {
    expect(() => parseSyncAnswer('decorator', body)).toThrow(message);
  });

  it.each<[string, RegExp]>([
    [
      '{"relatedResources":[{"apiVersion":"v1","resource":"pods","name":"a"}]}',
      /relatedResources\.0: Unrecognized key: "name"/,
    ],
    [
      '{"relatedResources":[{"labelSelector":{"match":{}}}]}',
      /relatedResources\.0\.labelSelector: Unrecognized key: "match"/,
    ],
    [
      '{"relatedResources":[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In","value":"b"}]}}]}',
      /matchExpressions\.0: Unrecognized key: "value"/,
    ],
    ['{"relatedResources":[{"names":"a"}]}', /names: .*expected array/],
    ['{"resources":[]}', /Unrecognized key: "resources"/],
  ])('customize: %s', (body, message) => {
    expect(() => parseCustomizeAnswer(body)).toThrow(message);
  });
});
