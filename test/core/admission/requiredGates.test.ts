import { expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { closedGates } from '../../../core/admission/requiredGates.ts';
import { refKey } from '../../../core/kube/names.ts';
import { objectOf } from '../../support/objects.ts';

const named = ['apps', 'platform'].map((namespace) => ({ namespace, name: 'freeze' }));

it.each(['apps', 'platform'])('of two Gates of one name, the closed one of %s holds', (closed) => {
  const gates = new Map(
    named.map((metadata): [string, Gate] => [
      refKey(metadata),
      objectOf('Gate', { metadata, spec: { default: metadata.namespace === closed ? 'closed' : 'opened' } }),
    ]),
  );
  const required = { named, selecting: [], problems: [], tooMany: false };
  expect(closedGates(required, { gates, namespaceLabels: {}, now: 0 }).map(({ ref }) => refKey(ref))).toEqual([
    `${closed}/freeze`,
  ]);
});
