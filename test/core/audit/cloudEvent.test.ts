/** An audit record as a CloudEvent: its form, type, and an id by which receivers drop duplicates. */
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { AuditAction, AuditRecord } from '../../../core/audit/auditRecord.ts';
import { cloudEventOf, gapEventOf } from '../../../core/audit/cloudEvent.ts';

const ajv = new Ajv({ strict: false });
(addFormats as unknown as (ajv: Ajv) => void)(ajv);
const text = { type: 'string', minLength: 1 };
const uri = { ...text, format: 'uri-reference' };
const time = { ...text, format: 'date-time' };

/** The required attributes of CloudEvents' JSON Schema, and the optional ones that are always sent. */
const isCloudEvent = ajv.compile({
  type: 'object',
  required: ['id', 'source', 'specversion', 'type', 'subject', 'time', 'datacontenttype', 'data'],
  additionalProperties: false,
  properties: {
    id: text,
    source: uri,
    specversion: { const: '1.0' },
    type: text,
    subject: text,
    time,
    datacontenttype: text,
    data: { type: 'object' },
  },
});

/** The schemas of service deployed, upgraded and rolledback in CDEvents 0.5.1. */
const isCdEvent = ajv.compile({
  type: 'object',
  required: ['context', 'subject'],
  additionalProperties: false,
  properties: {
    context: {
      type: 'object',
      required: ['specversion', 'id', 'source', 'type', 'timestamp'],
      additionalProperties: false,
      properties: { specversion: text, id: text, source: uri, type: text, timestamp: time },
    },
    subject: {
      type: 'object',
      required: ['id', 'content'],
      additionalProperties: false,
      properties: {
        id: text,
        content: {
          type: 'object',
          required: ['environment', 'artifactId'],
          additionalProperties: false,
          properties: {
            environment: { type: 'object', required: ['id'], additionalProperties: false, properties: { id: text } },
            artifactId: text,
          },
        },
      },
    },
    customData: { type: 'object' },
    customDataContentType: text,
  },
});

const AT = '2026-03-04T10:00:00Z';
const SOURCE = '/clusters/eu';
const record = (more: Partial<AuditRecord> = {}): AuditRecord => ({
  time: AT,
  action: 'Approved',
  object: { kind: 'RolloutGate', namespace: 'shop', name: 'qa' },
  user: 'alice',
  version: '1.2.0',
  reason: 'tested',
  sources: ['Object'],
  ...more,
});
const deployed = (more: Partial<AuditRecord> = {}): AuditRecord =>
  record({
    action: 'Deployed',
    object: { kind: 'Rollout', namespace: 'shop', name: 'web' },
    change: 'Upgrade',
    sources: ['History'],
    ...more,
  });
const idOf = (each: AuditRecord) => cloudEventOf(each, SOURCE).id;

describe('the shape', () => {
  const ACTIONS = ['Approved', 'ApprovalWithdrawn', 'Bypassed', 'Opened', 'Closed', 'RuleChanged'] as const;

  it.each<AuditAction>(ACTIONS)('of %s is a CloudEvent with the record', (action) => {
    const event = cloudEventOf(record({ action }), SOURCE);
    expect(isCloudEvent(event), ajv.errorsText(isCloudEvent.errors)).toBe(true);
    expect(event).toMatchObject({ type: `com.kuberik.audit.${action}`, source: SOURCE, time: AT });
    expect(event).toMatchObject({ subject: 'RolloutGate/shop/qa', data: record({ action }) });
  });

  it.each([
    ['First', 'dev.cdevents.service.deployed.0.3.0'],
    ['Upgrade', 'dev.cdevents.service.upgraded.0.3.0'],
    ['Rollback', 'dev.cdevents.service.rolledback.0.3.0'],
  ] as const)('of a deployment (%s) is the CDEvent %s', (change, type) => {
    const event = cloudEventOf(deployed({ change, digest: `sha256:${'a'.repeat(64)}` }), SOURCE);
    expect(isCloudEvent(event), ajv.errorsText(isCloudEvent.errors)).toBe(true);
    expect(isCdEvent(event.data), ajv.errorsText(isCdEvent.errors)).toBe(true);
    const { id, source, subject, time } = event;
    expect(event.type).toBe(type);
    expect(event.data).toMatchObject({
      context: { id, source, type, timestamp: time },
      subject: {
        id: subject,
        content: { environment: { id: 'shop' }, artifactId: `pkg:oci/web@sha256%3A${'a'.repeat(64)}?tag=1.2.0` },
      },
      customData: { action: 'Deployed', user: 'alice', version: '1.2.0' },
    });
  });

  it('of a gap names the unwatched kind and the time', () => {
    const [from, to] = [Date.parse(AT), Date.parse(AT) + 60_000];
    const event = gapEventOf({ kind: 'Gate', from, to }, SOURCE);
    expect(isCloudEvent(event), ajv.errorsText(isCloudEvent.errors)).toBe(true);
    expect(event).toMatchObject({
      type: 'com.kuberik.audit.Gap',
      data: { kind: 'Gate', from: AT, to: '2026-03-04T10:01:00Z' },
    });
    expect(gapEventOf({ kind: 'Gate', to }, SOURCE).data).not.toHaveProperty('from');
  });

  it('of a cluster-scoped object has no namespace in its subject', () => {
    const object = { kind: 'ClusterRolloutBudget', namespace: '', name: 'fleet' };
    expect(cloudEventOf(record({ object }), SOURCE).subject).toBe('ClusterRolloutBudget/fleet');
  });

  it('has texts of bounded length', () => {
    const long = 'x'.repeat(500_000);
    expect(JSON.stringify(cloudEventOf(record({ reason: long, detail: long }), SOURCE)).length).toBeLessThan(65_536);
  });
});

describe('the id', () => {
  it.each<[what: string, one: AuditRecord, other: AuditRecord]>([
    ['of an approval in its gate and in a history', record(), record({ sources: ['History'], reason: 'cut' })],
    [
      'of an opening in its Gate and in a history, which does not say for which version',
      record({ action: 'Opened', version: 'shop/web:1.2.0' }),
      record({ action: 'Opened', version: undefined } as never),
    ],
  ])('%s is one', (_, one, other) => {
    expect(idOf(one)).toBe(idOf(other));
  });

  it.each<[what: string, other: Partial<AuditRecord>]>([
    ['another second', { time: '2026-03-04T10:00:01Z' }],
    ['another user', { user: 'bob' }],
    ['another version', { version: '1.3.0' }],
    ['another action', { action: 'Bypassed' }],
    ['another object', { object: { kind: 'Gate', namespace: 'shop', name: 'qa' } }],
  ])('of %s is another', (_, other) => {
    expect(idOf(record(other))).not.toBe(idOf(record()));
  });

  it('of two rules that one write has changed are two', () => {
    const changed = (detail: string) => record({ action: 'RuleChanged', detail });
    expect(idOf(changed('spec.schedule'))).not.toBe(idOf(changed('spec.approvals.required: 2 → 1')));
  });

  it('of two Events of one second, which name users in their texts alone, are two', () => {
    const withdrawn = (detail: string): AuditRecord => {
      const { user: _, version: __, reason: ___, ...rest } = record({ action: 'ApprovalWithdrawn', detail });
      return { ...rest, sources: ['Event'] };
    };
    expect(idOf(withdrawn('by alice'))).not.toBe(idOf(withdrawn('by bob')));
  });
});

it('a deployment is the same event, however it fares', () => {
  const events = ['Deploying', 'Succeeded'].map((detail) => cloudEventOf(deployed({ detail }), SOURCE));
  expect(events[1]).toEqual(events[0]);
});
