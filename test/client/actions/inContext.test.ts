import { expect, it } from 'vitest';
import { inContext } from '../../../client/actions/lines.ts';

it.each([
  ['kubectl rollouts pin web 1.0.0 -n shop', 'kubectl rollouts --context prod pin web 1.0.0 -n shop'],
  ['kubectl -n shop annotate rollout/web a=b', 'kubectl --context prod -n shop annotate rollout/web a=b'],
  ['flux resume kustomization web -n shop', 'flux --context prod resume kustomization web -n shop'],
  [
    'kubectl create -f a\nkubectl create -f b',
    'kubectl --context prod create -f a\nkubectl --context prod create -f b',
  ],
  [
    "kubectl rollouts open x --reason 'kubectl broke'",
    "kubectl rollouts --context prod open x --reason 'kubectl broke'",
  ],
  ['It waits. To open it:\n  flux rollouts open x', 'It waits. To open it:\n  flux rollouts --context prod open x'],
])('%s', (lines, expected) => {
  expect(inContext(lines, 'prod')).toBe(expected);
});

it('quotes a name of any kind', () => {
  expect(inContext('kubectl get', "a b; $(x) $& '")).toBe("kubectl --context 'a b; $(x) $& '\\''' get");
});
