/** Records from lines of the API server's audit log. */
import { describe, expect, it } from 'vitest';
import { AuditLog } from '../../../client/audit/auditLog.ts';

const ROLLOUT = { apiGroup: 'kuberik.com', resource: 'rollouts', namespace: 'shop', name: 'web' };
const GATE = { apiGroup: 'gating.toolkit.fluxcd.io', resource: 'gates', namespace: 'shop', name: 'freeze' };
const SYNC = { apiGroup: 'kustomize.toolkit.fluxcd.io', resource: 'kustomizations', namespace: 'shop', name: 'web' };

const line = (objectRef: object, requestObject: unknown, more: object = {}) =>
  JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'patch',
    requestURI: '/apis',
    user: { username: 'alice' },
    objectRef,
    responseStatus: { code: 200 },
    requestReceivedTimestamp: '2026-03-04T10:00:00.123456Z',
    requestObject,
    responseObject: { metadata: { resourceVersion: '42' } },
    ...more,
  });
const CLOSE = 'close.gate.fluxcd.io/requestedAt';
const OURS = 'system:serviceaccount:rollout-hooks:rollout-hooks';
const PAGE = 'system:serviceaccount:rollout-hooks:rollout-hooks-ui';
const as = (username: string) => ({ user: { username } });
const annotated = (annotations: Record<string, string | null>) => ({ metadata: { annotations } });

function recordsFrom(...lines: string[]): string[] {
  const log = new AuditLog();
  for (const each of lines) log.add(each);
  return log.records.map(({ action, user, object: { kind, name }, version, reason, detail, resourceVersion }) =>
    [action, user, `${kind}/${name}`, version, reason, detail, `@${resourceVersion}`].filter(Boolean).join(' '),
  );
}

it.each<[what: string, line: string, records: string[]]>([
  [
    'a Gate closed, with the reason',
    line(GATE, annotated({ 'close.gate.fluxcd.io/requestedAt': 'now', 'close.gate.fluxcd.io/reason': 'INC-7' })),
    ['Closed alice Gate/freeze INC-7 @42'],
  ],
  [
    'the same as a JSON patch',
    line(GATE, [{ op: 'add', path: '/metadata/annotations/close.gate.fluxcd.io~1requestedAt', value: 'now' }]),
    ['Closed alice Gate/freeze @42'],
  ],
  [
    'an approval that is withdrawn',
    line(GATE, annotated({ 'unapprove.gate.fluxcd.io/for': 'shop/web:1.2.0' })),
    ['ApprovalWithdrawn alice Gate/freeze shop/web:1.2.0 @42'],
  ],
  [
    'a bypass of a Flux object',
    line(SYNC, { ...annotated({ 'gate.fluxcd.io/bypass-reason': 'INC-7' }), spec: { suspend: false } }),
    ['Bypassed alice Kustomization/web INC-7 @42'],
  ],
  ['any other change of a Flux object is no act of delivery control', line(SYNC, { spec: { path: './b' } }), []],
  [
    'a version pinned, and another rule changed with it',
    line(ROLLOUT, { spec: { wantedVersion: '1.1.0', bakeTime: '1h' } }),
    ['Pinned alice Rollout/web 1.1.0 @42', 'RuleChanged alice Rollout/web spec.bakeTime @42'],
  ],
  ['a pin removed', line(ROLLOUT, { spec: { wantedVersion: null } }), ['Unpinned alice Rollout/web @42']],
  [
    'an apply, which names everything',
    line(ROLLOUT, { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', spec: { wantedVersion: '1.1.0' } }),
    ['RuleChanged alice Rollout/web the whole object @42'],
  ],
  [
    'a bake result that a user set',
    line({ ...ROLLOUT, subresource: 'status' }, { status: {} }),
    ['RuleChanged alice Rollout/web status @42'],
  ],
  ['a deletion', line(GATE, undefined, { verb: 'delete' }), ['Deleted alice Gate/freeze @42']],
  [
    'a creation under a generated name',
    line(
      { ...GATE, name: undefined },
      {},
      { verb: 'create', responseObject: { metadata: { name: 'freeze-x7', resourceVersion: '7' } } },
    ),
    ['Created alice Gate/freeze-x7 @7'],
  ],
  [
    'an impersonated user is who acted',
    line(GATE, undefined, { verb: 'delete', impersonatedUser: { username: 'bob' } }),
    ['Deleted bob Gate/freeze @42'],
  ],
  [
    'an impersonated controller hides nobody',
    line(GATE, undefined, {
      verb: 'delete',
      impersonatedUser: { username: 'system:serviceaccount:metacontroller:metacontroller' },
    }),
    ['Deleted alice Gate/freeze @42'],
  ],
  [
    'a reader of the page, whom our own account impersonates',
    line(ROLLOUT, { spec: { wantedVersion: '1.1.0' } }, { ...as(PAGE), impersonatedUser: { username: 'bob' } }),
    ['Pinned bob Rollout/web 1.1.0 @42'],
  ],
  [
    'a Gate that a pipeline closed by way of the receiver',
    line(
      GATE,
      annotated({ 'close.gate.fluxcd.io/requestedAt': 'now', 'close.gate.fluxcd.io/reason': 'CHG-1' }),
      as(OURS),
    ),
    [`Closed ${OURS} Gate/freeze CHG-1 @42`],
  ],
  [
    'a request in a merge patch that looks like an apply',
    line(GATE, { apiVersion: 'v1', ...annotated({ 'unapprove.gate.fluxcd.io/for': '1.2.0' }) }),
    [
      'ApprovalWithdrawn alice Gate/freeze 1.2.0 the whole object @42',
      'RuleChanged alice Gate/freeze the whole object @42',
    ],
  ],
  [
    'a request in metadata that a JSON patch replaces',
    line(GATE, [{ op: 'replace', path: '/metadata', value: annotated({ [CLOSE]: 'now' }).metadata }]),
    ['Closed alice Gate/freeze @42'],
  ],
  [
    'a request in an object that a JSON patch replaces',
    line(GATE, [{ op: 'replace', path: '', value: annotated({ [CLOSE]: 'now' }) }]),
    ['Closed alice Gate/freeze the whole object @42', 'RuleChanged alice Gate/freeze the whole object @42'],
  ],
  [
    'a request that a JSON patch copies, from the object after it',
    line(
      GATE,
      [{ op: 'copy', from: '/metadata/annotations/x', path: `/metadata/annotations/${CLOSE.replace('/', '~1')}` }],
      {
        responseObject: { metadata: { resourceVersion: '42', annotations: { [CLOSE]: 'now' } } },
      },
    ),
    ['Closed alice Gate/freeze @42'],
  ],
  [
    'a version that a JSON patch copies, from the object after it',
    line(ROLLOUT, [{ op: 'copy', from: '/metadata/annotations/x', path: '/spec/wantedVersion' }], {
      responseObject: { metadata: { resourceVersion: '42' }, spec: { wantedVersion: '1.1.0' } },
    }),
    ['Pinned alice Rollout/web 1.1.0 @42'],
  ],
  [
    'a pin that a JSON patch moves elsewhere',
    line(ROLLOUT, [{ op: 'move', from: '/spec/wantedVersion', path: '/metadata/annotations/x' }], {
      responseObject: { metadata: { resourceVersion: '42', annotations: { x: '1.1.0' } } },
    }),
    ['Unpinned alice Rollout/web @42'],
  ],
  [
    'a version that a JSON patch copies from where the log has no value',
    line(ROLLOUT, [{ op: 'copy', from: '/metadata/annotations/x', path: '/spec/wantedVersion' }]),
    ['RuleChanged alice Rollout/web spec.wantedVersion @42'],
  ],
])('%s', (_, given, records) => {
  expect(recordsFrom(given)).toEqual(records);
});

const closing = annotated({ 'close.gate.fluxcd.io/requestedAt': 'now' });

describe('no record of', () => {
  it.each<[what: string, line: string]>([
    ['a write that was refused', line(GATE, closing, { responseStatus: { code: 403 } })],
    ['a dry run', line(GATE, closing, { requestURI: '/apis/gates/freeze?dryRun=All&fieldManager=x' })],
    ['a request that is still under way', line(GATE, closing, { stage: 'RequestReceived' })],
    [
      'what Metacontroller writes for the hooks',
      line(ROLLOUT, { spec: {} }, { user: { username: 'system:serviceaccount:metacontroller:metacontroller' } }),
    ],
    ['a request annotation that is removed', line(GATE, annotated({ 'close.gate.fluxcd.io/requestedAt': null }))],
  ])('%s', (_, given) => {
    expect(recordsFrom(given)).toEqual([]);
  });
});

describe('gaps', () => {
  const gaps = (since: string, ...lines: string[]) => {
    const log = new AuditLog();
    for (const each of lines) log.add(each);
    return log.gaps(Date.parse(since));
  };

  it.each<[what: string, since: string, lines: string[], kinds: string[]]>([
    ['none where the log reaches back', '2026-03-05T00:00:00Z', [line(GATE, closing)], []],
    ['of a log that begins later', '2026-03-01T00:00:00Z', [line(GATE, closing)], ['AuditLogBegins']],
    ['of an empty log', '2026-03-01T00:00:00Z', [''], ['AuditLogEmpty']],
    [
      'of lines that are no JSON, or no audit events',
      '2026-03-05T00:00:00Z',
      [line(GATE, closing), 'oops', '[]', '7'],
      ['UnreadableLines'],
    ],
    ['of a policy that logs no content', '2026-03-05T00:00:00Z', [line(GATE, undefined)], ['WritesWithoutContent']],
    [
      'of JSON patches that copy a value the log lacks, or one that the webhook has consumed',
      '2026-03-05T00:00:00Z',
      [
        line(GATE, [
          { op: 'copy', from: '/metadata/annotations/x', path: '/metadata/annotations/unapprove.gate.fluxcd.io~1for' },
        ]),
      ],
      ['UnclearPatches'],
    ],
    [
      'none of a JSON patch with a condition',
      '2026-03-05T00:00:00Z',
      [line(GATE, [{ op: 'test', path: '/metadata/resourceVersion', value: '7' }])],
      [],
    ],
  ])('%s', (_, since, lines, kinds) => {
    expect(gaps(since, ...lines).map(({ kind }) => kind)).toEqual(kinds);
  });
});
