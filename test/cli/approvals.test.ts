/** An approval or withdrawal is reported as made only if the webhook has recorded it. */
import { expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { objectOf } from '../support/objects.ts';
import { apiServer, json } from './apiServer.ts';

const NOW = Date.parse('2026-11-22T08:00:00Z');
const WARNING = 'not approved: system:serviceaccount:ci:deployer is none of those who may approve';
const ALICE = { version: '1.2.0', rollout: 'shop/web', by: 'alice', at: '2026-11-22T07:00:00Z' };
const AGAIN = { ...ALICE, at: '2026-11-22T08:00:00Z' };
const BOB = { ...ALICE, by: 'bob' };
const OTHER = { ...BOB, version: '1.3.0' };

const KEYS = { RolloutGate: 'rollout.kuberik.com/approvals', Gate: 'gate.fluxcd.io/approvals' };
const gateOf = (kind: keyof typeof KEYS, given: object[]) =>
  objectOf(kind, {
    metadata: { namespace: 'shop', name: 'qa', annotations: { [KEYS[kind]]: JSON.stringify({ given }) } },
    spec: { rolloutRef: { name: 'web' }, default: 'closed', approvals: { required: 3 } },
  } as never);

/** The answer to the command if the record is `before`, and `after` once the webhook has seen the write. */
async function answerTo(line: string, before: object[], after: object[], warns = false) {
  const kind = line.includes('rolloutgate/') ? 'RolloutGate' : 'Gate';
  const { kubeconfig } = await apiServer((request, response) => {
    if (request.method === 'GET') return json(response, gateOf(kind, before));
    request.resume().on('end', () => {
      json(response, gateOf(kind, after), 200, warns ? { warning: `299 - "${WARNING}"` } : {});
    });
  });
  return call(`${line} --yes`, { env: { KUBECONFIG: kubeconfig }, now: () => NOW });
}

it.each<[string, string, object[], object[]]>([
  ['a first approval', 'approve rolloutgate/qa 1.2.0', [], [ALICE]],
  ['a second approval', 'approve rolloutgate/qa 1.2.0', [BOB], [BOB, ALICE]],
  ['an approval again', 'approve rolloutgate/qa 1.2.0', [ALICE], [AGAIN]],
  ['an approval at a Gate', 'approve gate/qa shop/web:1.2.0', [OTHER], [OTHER, ALICE]],
  ['a withdrawal', 'withdraw rolloutgate/qa 1.2.0', [ALICE, BOB], [BOB]],
])('%s that is recorded is reported', async (_, line, before, after) => {
  const { code, out, err } = await answerTo(line, before, after);
  expect([code, out, err]).toEqual([0, expect.stringMatching(/^(Approved|Withdrew your approval of) /), '']);
});

it.each<[string, string, object[], object[], string]>([
  ['an approval', 'approve rolloutgate/qa 1.2.0', [], [], 'recorded at RolloutGate shop/qa'],
  ['an approval that another user gave', 'approve rolloutgate/qa 1.2.0', [ALICE], [ALICE], 'recorded at RolloutGate'],
  ['an approval, while another one expires', 'approve gate/qa 1.2.0', [BOB, OTHER], [BOB], 'recorded at Gate shop/qa'],
  ['an approval of another Rollout', 'approve gate/qa shop/api:1.2.0', [], [ALICE], 'recorded at Gate shop/qa'],
  ['a withdrawal', 'withdraw gate/qa 1.2.0', [ALICE], [ALICE], 'withdrawn at Gate shop/qa'],
])('%s that is not recorded is an error, with the Warning', async (_, line, before, after, what) => {
  const { code, out, err } = await answerTo(line, before, after, true);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(WARNING);
  expect(err).toMatch(new RegExp(`No approval of (shop/api:)?1\\.2\\.0 was ${what}`));
});
