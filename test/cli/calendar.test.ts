/** `calendar` on a pipe and on terminals of two widths, compared with the files beside this one. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatAcceptedRequests } from '../../core/gate/gateRequests.ts';
import { call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { apiServer, json, list, status } from './apiServer.ts';
import { typed } from './objectServer.ts';

/** A Wednesday. */
const now = () => Date.parse('2037-11-25T10:00:00Z');
const gate = (name: string, spec: object) =>
  objectOf('Gate', { metadata: { namespace: 'shop', name }, spec, status: { requiredByCount: 0 } } as never);
const weekend = [{ name: 'weekend', daysOfWeek: ['Saturday', 'Sunday'] }];
const nights = [{ name: 'nights', timeRange: { start: '22:00', end: '06:00' } }];
const OBJECTS = [
  gate('weekends', { default: 'opened', schedule: { action: 'Close', rules: weekend } }),
  gate('sealed', { default: 'closed' }),
  objectOf('RolloutSchedule', {
    metadata: { namespace: 'shop', name: 'nights' },
    spec: { rolloutSelector: {}, action: 'Deny', rules: nights },
  } as never),
];

it.each([undefined, 100, 40])('on %s columns', async (columns) => {
  const { code, out } = await typed(['calendar', '-n', 'shop'], OBJECTS, { now, ...(columns && { columns }) });
  await expect(out).toMatchFileSnapshot(join(import.meta.dirname, `calendar-${columns ?? 'pipe'}.txt`));
  expect(code).toBe(0);
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(columns ?? 200);
});

it('-o json has every span', async () => {
  const { out } = await typed(['calendar', '-n', 'shop', '--weeks', '1', '-o', 'json'], OBJECTS, { now });
  const { rows } = JSON.parse(out) as { rows: { name: string; spans: object[] }[] };
  expect(rows.find(({ name }) => name === 'weekends')?.spans).toEqual([
    { state: 'open', from: '2037-11-25T10:00:00Z', to: '2037-11-28T00:00:00Z', why: 'open by default' },
    { state: 'closed', from: '2037-11-28T00:00:00Z', to: '2037-11-30T00:00:00Z', why: 'closed by its schedule' },
    { state: 'open', from: '2037-11-30T00:00:00Z', to: '2037-12-02T00:00:00Z', why: 'open by default' },
  ]);
});

it('has readable times, also that of an opening for one version', async () => {
  const exception = { action: 'open', at: now() - 1000, by: 'alice', for: 'shop/web:1.2.0' } as const;
  const record = formatAcceptedRequests({ exception, handled: { open: exception.at } });
  const sealed = objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'sealed', annotations: { 'gate.fluxcd.io/accepted-request': record } },
    spec: { default: 'closed', window: '2h' },
  } as never);
  const { out } = await typed(['calendar', '-n', 'shop'], [sealed], { now });
  expect(out).toMatch(/open for version 'shop\/web:1\.2\.0' until 11:59/);
});

it('of a namespace without any', async () => {
  expect(await typed(['calendar', '-n', 'shop'], [])).toMatchObject({
    code: 0,
    out: '',
    err: 'Nothing opens or closes in namespace shop: there is no Gate and no schedule.\n',
  });
});

it.each([
  [403, 'sealed', "Not read: Gates of other namespaces: you aren't allowed to read this kind."],
  [404, undefined, 'Not read: Gates: the cluster does not have this kind.'],
])('of Gates that can’t be read in all namespaces: %i', async (code, shown, unread) => {
  const { kubeconfig } = await apiServer((_, response, { pathname }) => {
    if (!pathname.endsWith('/gates')) return json(response, list([]));
    const isReadable = code === 403 && pathname.includes('/namespaces/shop/');
    return isReadable ? json(response, list([OBJECTS[1]!])) : status(response, code, 'Refused', 'no');
  });
  const answer = await call('calendar -n shop', { env: { KUBECONFIG: kubeconfig }, now });
  expect(answer).toMatchObject({ code: 0, out: expect.stringContaining(shown ?? '') });
  expect(answer.err).toBe(`${unread}\n`);
});

it.each([
  ['2037-12-20T00:00:00Z', '336h', 'Planned later: 1 closure until Sun 3 Jan 00:00. To show all: --weeks 4.\n'],
  ['2038-12-20T00:00:00Z', undefined, /^Planned later: 1 closure without an end\. .*, --weeks 8\.\n$/],
  ['2037-12-05T00:00:00Z', '24h', ''],
])('ends with the closures that are planned for later: at %s', async (at, window, later) => {
  const request = { action: 'close', at: Date.parse(at), by: 'alice' } as const;
  const record = formatAcceptedRequests({ planned: request, handled: { close: request.at } });
  const holiday = objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'holiday', annotations: { 'gate.fluxcd.io/accepted-request': record } },
    spec: { default: 'opened', ...(window && { window }) },
  } as never);
  const { err } = await typed(['calendar', '-n', 'shop'], [holiday], { now });
  expect(err).toEqual(typeof later === 'string' ? later : expect.stringMatching(later));
});
