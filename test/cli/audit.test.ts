/** `kubectl rollouts audit`: one report of all sources, in each format. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { apiServer, json, list, rollout, status } from './apiServer.ts';

const NOW = () => Date.parse('2026-03-02T12:00:00Z');
const gate = {
  metadata: {
    namespace: 'shop',
    name: 'freeze',
    annotations: {
      'gate.fluxcd.io/accepted-request': JSON.stringify({
        current: { action: 'close', at: '2026-03-01T13:00:00Z', by: 'sre', reason: '=HYPERLINK("x"), now' },
      }),
    },
  },
  spec: {},
};
const event = (reason: string, at: string, message: string) => ({
  metadata: { namespace: 'shop', name: reason.toLowerCase() },
  involvedObject: { kind: 'Gate', namespace: 'shop', name: 'freeze' },
  reason,
  message,
  firstTimestamp: `2026-03-02T${at}Z`,
  source: { component: 'rollout-controller' },
});
const events = [
  event('GateBypassed', '11:30:00', 'bypassed by sre: INC-7'),
  event('OpenPlanned', '11:20:00', 'Gate open planned by sre'),
];

async function audited(line: string) {
  const { kubeconfig } = await apiServer((_, response, url) => {
    if (url.pathname.endsWith('/rollouts')) return json(response, list([rollout('web')]));
    if (url.pathname.endsWith('/gates')) return json(response, list([gate]));
    if (url.pathname.endsWith('/events')) return json(response, list(events));
    if (url.pathname.endsWith('/buckets')) return status(response, 403, 'Forbidden', 'no');
    return json(response, list([]));
  });
  return call(`audit -n shop ${line}`, { env: { KUBECONFIG: kubeconfig }, now: NOW });
}

it('without a record for a user who may read nothing does not report a period without records', async () => {
  const { kubeconfig } = await apiServer((_, response) => status(response, 403, 'Forbidden', 'no'));
  const { code, err } = await call('audit -n shop', { env: { KUBECONFIG: kubeconfig }, now: NOW });
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(/^No record was found in what you are allowed to read\.\nNot/),
  ]);
});

it('is a table, oldest first, and names its gaps', async () => {
  const { code, out, err } = await audited('--since 2d');
  expect([code, out]).toEqual([
    0,
    `TIME                   USER           ACTION        OBJECT             VERSION   SOURCE    REASON
2026-03-01T12:00:00Z   -              Deployed      Rollout shop/web   1.0.0     history   Succeeded
2026-03-01T13:00:00Z   sre            Closed        Gate shop/freeze   -         object    =HYPERLINK("x"), now
2026-03-02T11:20:00Z   (see REASON)   OpenPlanned   Gate shop/freeze   -         event     Gate open planned by sre
2026-03-02T11:30:00Z   (see REASON)   Bypassed      Gate shop/freeze   -         event     bypassed by sre: INC-7
`,
  ]);
  expect(err.trimEnd().split('\n')).toEqual([
    "Not read: Buckets: you aren't allowed to read this kind.",
    'Events begin at 2026-03-02T11:20:00Z: the API server deletes them after an hour by default.',
    'Without an audit log, only the newest requests, approvals and changes of existing objects are shown, and none that were withdrawn or replaced.',
  ]);
});

it('is CSV in which no text is a formula', async () => {
  const { out } = await audited('--since 2d -o csv');
  expect(out.trimEnd().split('\n')).toEqual([
    'time,user,action,kind,namespace,name,version,reason,detail,resourceVersion,sources',
    '2026-03-01T12:00:00Z,,Deployed,Rollout,shop,web,1.0.0,,Succeeded,,History',
    `2026-03-01T13:00:00Z,sre,Closed,Gate,shop,freeze,,"'=HYPERLINK(""x""), now",,,Object`,
    '2026-03-02T11:20:00Z,,OpenPlanned,Gate,shop,freeze,,,Gate open planned by sre,,Event',
    '2026-03-02T11:30:00Z,,Bypassed,Gate,shop,freeze,,,bypassed by sre: INC-7,,Event',
  ]);
});

it('is JSON with its gaps, and begins at the requested time', async () => {
  const { records, gaps, since } = JSON.parse((await audited('--since 1h -o json')).out);
  expect(since).toBe('2026-03-02T11:00:00Z');
  expect(records.map(({ action }: { action: string }) => action)).toEqual(['OpenPlanned', 'Bypassed']);
  expect(gaps.map(({ kind }: { kind: string }) => kind)).toEqual(['NotRead', 'EventsBegin', 'NoAuditLog']);
});

it('has the entries that only the audit log has, of this namespace', async () => {
  const file = join(temporaryFolder('audit-'), 'audit.log');
  const deletion = (namespace: string) =>
    JSON.stringify({
      stage: 'ResponseComplete',
      verb: 'delete',
      // Users write it, and programs between the API server and this file may leave it as it is.
      userAgent: 'a\u2028b',
      user: { username: 'mallory' },
      objectRef: { apiGroup: 'gating.toolkit.fluxcd.io', resource: 'gates', namespace, name: 'old' },
      responseStatus: { code: 200 },
      requestReceivedTimestamp: '2026-03-01T09:00:00.000001Z',
    });
  writeFileSync(file, `${deletion('shop')}\n${deletion('elsewhere')}\n`);
  const { out, err } = await audited(`--since 2d --audit-log ${file}`);
  expect(out).toMatch(/mallory +Deleted +Gate shop\/old/);
  expect(out).not.toContain('elsewhere');
  expect(err).not.toMatch(/Without an audit log|Ignored/);
});

it('a file that can’t be read is a usage error', async () => {
  const { code, err } = await audited('--audit-log /nowhere/audit.log');
  expect([code, err]).toEqual([2, expect.stringContaining("--audit-log: /nowhere/audit.log can't be read")]);
});
