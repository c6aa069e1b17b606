import { describe, expect, it } from 'vitest';
import type { HookCall } from '../../api/ports.ts';
import { decorating } from '../../dev/fakes/requests.ts';
import { gateLabelsHook } from '../../hooks/gateHook.ts';
import { gate } from '../core/admission/objects.ts';

const LABEL = 'gate.fluxcd.io/selects';
const ROLLOUTS = 'gate.fluxcd.io/selects-rollouts';

describe('the label by which a selecting Gate is found', () => {
  const all = { namespaceSelector: {} };
  const kinds = ['Rollout'];
  const rows: [title: string, selects: object | undefined, label: string | undefined, answer: object | undefined][] = [
    ['comes to a Gate stored without it', {}, undefined, { [LABEL]: 'own-namespace' }],
    ['comes to one that reaches further', all, undefined, { [LABEL]: '' }],
    ['is put right', all, 'own-namespace', { [LABEL]: '' }],
    ['goes where nothing is selected', undefined, '', { [LABEL]: null }],
    ['stays', all, '', undefined],
    ['is not missed', undefined, undefined, undefined],
    [
      'has another value, for which no Flux object looks, if only Rollouts are selected',
      { kinds },
      undefined,
      { [LABEL]: 'own-namespace-rollouts', [ROLLOUTS]: 'own-namespace' },
    ],
    ['is put right then too', { ...all, kinds }, '', { [LABEL]: 'rollouts', [ROLLOUTS]: '' }],
    [
      'comes with the other one where both are',
      { kinds: [...kinds, 'Bucket'] },
      'own-namespace',
      { [ROLLOUTS]: 'own-namespace' },
    ],
  ];
  it.each(rows)('%s', async (_, selects, label, labels) => {
    const object = gate('shop/freeze', selects && { selects });
    object.metadata.labels = label === undefined ? {} : { [LABEL]: label };
    const answer = await gateLabelsHook.sync(decorating(object), {} as HookCall);
    expect(answer).toEqual(labels ? { attachments: [], labels, resyncAfterSeconds: 1 } : { attachments: [] });
  });
});
