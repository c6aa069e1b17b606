/** Whatever a tenant writes, a proposed command has it as one word, or leaves it out. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absentFindings } from '../../../cli/doctor/checkReferences.ts';
import type { ActionRequest } from '../../../client/actions/action.ts';
import { fluxActions } from '../../../client/actions/gateActions.ts';
import { commandViewsOf, linesOf } from '../../../client/actions/lines.ts';
import { offer } from '../../../client/actions/offer.ts';
import { rolloutActions } from '../../../client/actions/rolloutActions.ts';
import { ACTIONS } from '../../../client/actions/table.ts';
import { adoptCommandOf } from '../../../client/actions/writes/adoption.ts';
import { kubectlOf, patchWrite } from '../../../client/actions/writes/plannedWrite.ts';
import { objectRef } from '../../../client/explain/application.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { readyOf } from '../../../core/budget/budgetReport.ts';
import { ABSENCE, evaluateGates } from '../../../core/gate/evaluateGates.ts';
import { byRefKey, identityOf, refKey } from '../../../core/kube/names.ts';
import { isLegalTag, tagWord } from '../../../core/kube/tag.ts';
import { denialText, managedFieldTodo } from '../../../core/objectGates/gateTexts.ts';
import { approvalProgress } from '../../../core/rollout/evaluation/versionApprovals.ts';
import { nameWord, quote, shell, WHY } from '../../../core/text/shell.ts';
import { anyText } from '../../support/anyText.ts';
import { objectOf } from '../../support/objects.ts';
import { words } from '../../support/words.ts';

const TIME = '$(date -u +%Y-%m-%dT%H:%M:%SZ)';

const NASTY = [
  '1.1.0;$(touch$IFS/tmp/x)',
  '`id`',
  "' ; id #",
  '"$HOME"',
  '--all',
  '-x',
  '~',
  '=id',
  'a b',
  '\u001b[2J',
  'x\nid',
  '',
  '&',
  '$((1))',
];
const anything = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
  fc.constantFrom('1.2.0', 'web'),
);

const each = (check: (tag: string, name: string, other: string) => void) =>
  fc.assert(fc.property(anything, anything, anything, check), { numRuns: 300 });

/** The words of a line that needs no quotes, and more words. */
const argv = (line: string, ...more: string[]) => [...line.split(' '), ...more];

describe('a shell', () => {
  it('reads each value as one word', () => {
    const values = fc
      .sample(anyText(), 300)
      .concat(NASTY)
      .map((text) => text.replaceAll('\0', ''));
    const script = values.map((value) => shell`printf '%s\\0' ${value} key=${value} ${value}/x`).join('\n');
    const { stdout, stderr } = spawnSync('sh', [], { input: script });
    expect(stderr.toString()).toBe('');
    expect(stdout.toString().split('\0').slice(0, -1)).toEqual(
      values.flatMap((value) => [value, `key=${value}`, `${value}/x`]),
    );
  });

  it('reads them as this test does', () => {
    each((a, b) => {
      expect(words(shell`do ${a} --x=${b} ${WHY}`)).toEqual(['do', a, `--x=${b}`, '<why>']);
    });
  });

  it.each(['1.2.0', 'shop/app:1.2.0', 'user@example.com', 'a=b', ''])(
    'is shown %j without quotes where it needs none',
    (text) => {
      expect(quote(text)).toBe(text || "''");
    },
  );
});

describe('a command in', () => {
  it('an approval on a RolloutGate', () => {
    const gate = objectOf('RolloutGate', 'shop/qa');
    each((tag) => {
      const verdict = { required: 2, given: [], counted: [], enough: false };
      const lines = approvalProgress(tag, { gate, verdictOn: () => verdict } as never).split('\n');
      expect(lines.length).toBe(3);
      const line = lines[2] ?? '';
      expect(words(line)).toEqual(
        argv('kubectl -n shop annotate --overwrite rolloutgate/qa', `rollout.kuberik.com/approve=${tagWord(tag)}`),
      );
    });
  });

  it('an approval on a Gate', () => {
    const gate = objectOf('Gate', 'ops/two', { spec: { default: 'closed', approvals: { required: 1 } } });
    each((version) => {
      const next = { version, rollout: 'shop/web', users: { requesters: [], authors: undefined }, uid: '' };
      const [evaluated] = evaluateGates([identityOf(gate)], byRefKey([gate]), 0, next);
      const line = evaluated?.missingApprovals?.how[1] ?? '';
      expect(words(line)).toEqual(
        argv('kubectl -n ops annotate --overwrite gate/two', `approve.gate.fluxcd.io/for=shop/web:${tagWord(version)}`),
      );
    });
  });

  it('a denial of an edit', () => {
    const app = objectOf('Kustomization', 'shop/app');
    each((value, rollout, name) => {
      const lines = managedFieldTodo(app as never, { rollout, field: 'tag' } as never, value).commands ?? [];
      const [deploy = [], past] = lines.map(([, line]) => words(line));
      expect(past).toEqual([...deploy, 'gate.fluxcd.io/bypass-reason=<why>']);
      expect(deploy).toEqual(
        argv(
          'kubectl -n shop annotate --overwrite',
          `rollout.kuberik.com/${nameWord(rollout)}`,
          `rollout.kuberik.com/force-deploy=${tagWord(value)}`,
        ),
      );
      const ref = { namespace: 'ops', name };
      const closed = { gates: [{ key: refKey(ref), ref, isOpen: false, message: '' }] };
      const [open] = denialText({ reason: 'gate_closed', text: '', closed }, 'ops').commands ?? [];
      expect(words(open?.[1] ?? '')).toEqual(
        argv(
          'kubectl -n ops annotate --overwrite',
          `gate/${nameWord(name)}`,
          `open.gate.fluxcd.io/requestedAt=${TIME}`,
        ),
      );
    });
  });

  it('a budget that blocks a version', () => {
    const budget = objectOf('RolloutBudget', 'shop/fleet', { spec: { selector: {}, maxConcurrent: 1 } });
    each((version, image) => {
      const outcome = {
        config: { maxConcurrent: 1 },
        selected: 1,
        slots: [],
        blocked: [{ image, version, failed: 1 }],
        unknown: [],
      };
      const [[, line] = ['', '']] = readyOf(budget as never, outcome as never).commands ?? [];
      expect(words(line)).toEqual(
        argv(
          'kubectl annotate --overwrite -n shop rolloutbudget/fleet',
          `rollout.kuberik.com/continue=${tagWord(version)}`,
        ),
      );
    });
  });

  it('an explanation', () => {
    each((pendingVersion, name, namespace) => {
      const gates = [
        { kind: 'Gate', name: `${namespace}/${name}`, passing: false },
        { name: 'qa', passing: true, allowedVersions: [name] },
      ];
      const rollout = {
        kind: 'Rollout',
        metadata: { namespace: 'shop', name: 'app' },
        spec: { wantedVersion: name, gates: [{ name, namespace }] },
        status: { pendingVersion, gates },
      };
      const ref = { namespace, name };
      const offered = Object.entries(ACTIONS).flatMap(([type, { kinds }]) =>
        kinds.flatMap((kind) => {
          const request = { type, object: { kind, ...ref }, version: pendingVersion, rollout: ref, gate: ref };
          // One command takes a Gate, the other the explained Rollout.
          return type === 'freeze' || type === 'unrequire' ? [] : offer(request as ActionRequest);
        }),
      );
      const gate = { ref, closure: ABSENCE } as never;
      const all = [
        ...commandViewsOf(
          [
            ...rolloutActions(rollout as never, explainRollout(rollout as never, NO_RELATED, 0), NO_RELATED, 0),
            ...offered,
            ...fluxActions(rollout as never, objectRef('Kustomization', ref), { gates: [gate] }, [], true),
          ],
          0,
        ),
      ];
      const legal = isLegalTag(pendingVersion);
      for (const { command, kubectl } of all) {
        for (const word of [command, kubectl].flatMap(words)) {
          // Only names and tags.
          for (const text of [name, namespace])
            if (text.length > 3 && nameWord(text) !== text && !isLegalTag(text)) expect(word).not.toContain(text);
          if (!legal && pendingVersion.length > 3 && nameWord(pendingVersion) !== pendingVersion)
            expect(word).not.toContain(pendingVersion);
        }
      }
    });
  });

  it('the page, for writes', () => {
    each((version, reason, name) => {
      const rollout = { namespace: 'shop', name: 'web' };
      const request: ActionRequest = { type: 'deploy', object: { kind: 'Rollout', ...rollout }, version, reason };
      const because = reason === '' ? [] : ['--reason', reason];
      const { command, kubectl } = linesOf(request, undefined, 0);
      expect(words(command).slice(2)).toEqual(['deploy', 'web', version, '-n', 'shop', ...because]);
      if (kubectl.startsWith('#')) expect(kubectl).not.toMatch(/\p{Cc}/u);
      else words(kubectl);
      const patch = patchWrite(
        objectOf('Rollout', { metadata: { namespace: 'shop', name } } as never),
        { metadata: { annotations: { a: reason, b: null } } },
        { text: '' },
      );
      expect(words(kubectlOf(patch))).toEqual(
        argv('kubectl -n shop annotate --overwrite', `rollout.kuberik.com/${name}`, `a=${reason}`, 'b-'),
      );
      expect(words(kubectlOf({ ...patch, body: { spec: { wantedVersion: version } } })).at(-1)).toBe(
        JSON.stringify({ spec: { wantedVersion: version } }),
      );
      const choices = { policy: version, variable: reason };
      const adopt = words(
        adoptCommandOf({ kind: 'Kustomization', namespace: 'shop', name } as never, choices as never),
      );
      expect(adopt.slice(0, 6)).toEqual(['kubectl', 'rollouts', '-n', 'shop', 'adopt', `kustomization/${name}`]);
    });
  });

  it('doctor’s findings', () => {
    each((name, namespace) => {
      const rollout = {
        metadata: { namespace: 'shop', name: 'app' },
        spec: { releasesImagePolicy: { name, namespace }, gates: [{ name, namespace }] },
      };
      const found = absentFindings({ rollouts: [rollout], gates: [], policies: [] } as never);
      for (const { fix = '' } of found) words(fix.slice(fix.indexOf('kubectl ')));
    });
  });
});
