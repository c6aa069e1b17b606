/** Gates of one name in two namespaces are two Gates. */
import { expect, it } from 'vitest';
import { REQUIRED_GATES } from '../../../api/annotations.ts';
import { refKey } from '../../../core/kube/names.ts';
import { objectGates } from '../../../core/objectGates/objectGates.ts';
import { gate, gatesByName, kustomization } from '../admission/objects.ts';

it.each(['apps', 'platform'])('of two Gates of one name, the closed one of %s holds', (closed) => {
  const gates = gatesByName(
    ...['apps', 'platform'].map((each) => gate(`${each}/freeze`, { default: each === closed ? 'closed' : 'opened' })),
  );
  const object = kustomization({ annotations: { [REQUIRED_GATES]: 'apps/freeze,platform/freeze' } });
  const found = objectGates(object, { gates, namespaceLabels: {}, now: 0 });
  expect(found.closed.map(({ ref }) => refKey(ref))).toEqual([`${closed}/freeze`]);
});
