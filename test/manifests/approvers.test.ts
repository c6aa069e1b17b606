/** Further fields in an approver's write: those of each kind that its webhook writes, and no other kind's. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ACCEPTED_REQUEST, APPROVALS, BYPASSED_BY, GATE_APPROVALS, USED_CALLS } from '../../api/annotations.ts';

const policy = readFileSync(new URL('../../manifests/policies/approvers.yaml', import.meta.url), 'utf8');

it.each([
  ['gates', /resource == 'gates'\s*\? \[([^\]]*)\]/, [GATE_APPROVALS, ACCEPTED_REQUEST, USED_CALLS, BYPASSED_BY]],
  ['rolloutgates', /resource == 'gates'\s*\? \[[^\]]*\]\s*: \[([^\]]*)\]/, [APPROVALS]],
])('on %s', (_kind, list, keys) => {
  const free = list.exec(policy)?.[1]?.match(/[^'\s,]+/g);
  expect(free).toEqual(keys);
});
