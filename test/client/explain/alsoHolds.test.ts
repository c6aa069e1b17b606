/** Steps that hold a version although another one passes: a Gate that is open for one, a pin. */
import { expect, it } from 'vitest';
import type { FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { formatAcceptedRequests } from '../../../core/gate/gateRequests.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const rollout = objectOf('Rollout', {
  metadata: { namespace: 'shop', name: 'app', uid: 'u' },
  spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'incident' }] },
  status: { pendingVersion: '1.3.0', gates: [{ kind: 'Gate', name: 'shop/incident', passing: false }] },
} as never) as Rollout;
const bound = objectOf('FluxBinding', {
  metadata: { namespace: 'shop', name: 'kustomization-web', labels: { [boundLabel('app')]: '' } },
  spec: {
    target: { apiVersion: 'v1', kind: 'Kustomization', name: 'web', uid: 'w' },
    fields: [{ rollout: 'app' }],
    gates: [{ namespace: 'shop', gate: 'incident' }],
  },
} as never) as FluxBinding;

it.each([
  ['1.3.0', "; still holds Kustomization 'web'"],
  ['1.4.0', ''],
])('its step names the object if the Gate is open for the waiting version: %s', (opened, holds) => {
  const exception = { action: 'open', at: NOW, by: 'alice', for: `shop/app:${opened}` } as const;
  const record = formatAcceptedRequests({ exception, handled: { open: NOW } });
  const gate = objectOf('Gate', {
    metadata: { namespace: 'shop', name: 'incident', annotations: { 'gate.fluxcd.io/accepted-request': record } },
    spec: { default: 'closed' },
  } as never) as Gate;
  const { steps, next } = explainRollout(rollout, { ...NO_RELATED, gates: [gate], bindings: [bound] }, NOW + 1000);
  const { detail } = steps.find(({ kind }) => kind === 'gate') ?? {};
  expect(detail).toBe(`closed by default; open for version 'shop/app:${opened}', opened by alice${holds}`);
  expect(next?.text).toBe('no automatic change. 1.3.0 is waiting for Gate shop/incident');
});

it.each<[end: string, until: string | undefined, next: object]>([
  ['opens by a plan', '2026-03-01T14:00:00Z', { text: 'Gate shop/incident opens', at: '2026-03-01T14:00:00Z' }],
  ['stays closed', undefined, { text: 'no automatic change. 1.2.0 is waiting for Gate shop/incident' }],
])(
  'a deployment whose object waits for a Gate that %s has the Gate as first cause and next change',
  (_, until, next) => {
    const close = { action: 'close', at: NOW, by: 'alice' } as const;
    const open = until && ({ action: 'open', at: Date.parse(until), by: 'alice' } as const);
    const record = formatAcceptedRequests({ current: close, ...(open && { planned: open }), handled: { close: NOW } });
    const gate = objectOf('Gate', {
      metadata: { namespace: 'shop', name: 'incident', annotations: { 'gate.fluxcd.io/accepted-request': record } },
      spec: { default: 'opened' },
    } as never) as Gate;
    const deployment = { id: 1, version: { tag: '1.2.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Deploying' };
    const history = [{ ...deployment, waitingSince: '2026-03-01T11:30:00Z' }];
    const spec = { ...rollout.spec, bakeTime: '5m' } as Rollout['spec'];
    const deploying = {
      ...rollout,
      spec,
      status: { ...rollout.status, pendingVersion: undefined, history },
    } as Rollout;
    const app = explainRollout(deploying, { ...NO_RELATED, gates: [gate], bindings: [bound] }, NOW + 1000);
    expect(app.next).toEqual(next);
    const text = `Gate shop/incident is closed by alice${until ? `, until ${until}` : ''}`;
    expect(app.causes[0]).toEqual({ code: 'GateClosed', text, step: 'gate/shop/incident' });
  },
);

it('a pin has the version that it blocks', () => {
  const blockers = [{ type: 'PinnedVersion', effect: 'Blocks', reason: 'WantedVersion', version: '1.4.0' }];
  const history = [{ id: 1, version: { tag: '1.3.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' }];
  const spec = { ...rollout.spec, wantedVersion: '1.3.0' } as Rollout['spec'];
  const pinned = { ...rollout, spec, status: { blockers, history } } as unknown as Rollout;
  const { steps } = explainRollout(pinned, NO_RELATED, NOW);
  expect(steps.find(({ kind }) => kind === 'pin')).toMatchObject({ title: 'Pin on 1.3.0', detail: 'blocks 1.4.0' });
});
