/** Explanations of each kind: the YAML files beside this one have the objects and the sentences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import { commandViewsOf } from '../../../client/actions/lines.ts';
import { explainFluxObject } from '../../../client/explain/kinds/explainFluxObject.ts';
import { explainGate } from '../../../client/explain/kinds/explainGates.ts';
import { explainBudget, explainByConditions, explainHealthCheck } from '../../../client/explain/kinds/explainOthers.ts';
import type { Explanation } from '../../../client/explain/kinds/explanation.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** The parts of an object, metadata included; shop/web by default. */
type Parts = { kind?: string; [part: string]: any };

interface Case {
  title: string;
  object: Parts & { kind: keyof typeof EXPLAIN };
  gates?: Parts[];
  /** The Gates that select the object. */
  selecting?: NamespacedName[];
  rollouts?: Parts[];
  /** The status of its FluxBinding. */
  binding?: Parts;
  unread?: any[];
  expected: object;
}

function objectOfParts({ kind = '', spec, status, ...metadata }: Parts): any {
  return objectOf(kind as 'Gate', {
    metadata: { namespace: 'shop', name: 'web', ...metadata },
    spec,
    ...(status && { status }),
  });
}
const ofKind = (kind: string, of: Parts[] = []) => of.map((parts) => objectOfParts({ kind, ...parts }));

function ofFlux({ object, binding: status, gates, selecting = [], unread = [] }: Case): Explanation {
  const [binding] = ofKind('FluxBinding', status && [{ name: 'kustomization-web', status }]);
  const context = { binding, gates: ofKind('Gate', gates), selecting, unread };
  return explainFluxObject(objectOfParts(object), context, NOW);
}

const EXPLAIN = {
  Gate: ({ object }: Case) => explainGate(objectOfParts(object), NOW),
  Kustomization: ofFlux,
  HelmRelease: ofFlux,
  HealthCheck: ({ object, rollouts }: Case) => explainHealthCheck(objectOfParts(object), ofKind('Rollout', rollouts)),
  RolloutBudget: ({ object }: Case) => explainBudget(objectOfParts(object)),
  RolloutSchedule: ({ object }: Case) => explainByConditions(objectOfParts(object), 'rolloutschedules'),
};

const CASES = ['kinds.yaml', 'flux.yaml', 'gates.yaml'].flatMap(
  (file) => parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Case[],
);

it.each(CASES.map((each) => [each.title, each] as const))('%s', (_, each) => {
  expect(shown(EXPLAIN[each.object.kind](each))).toEqual(each.expected);
});

/** The explanation in the form of the file: texts alone, without empty lists. */
function shown({ headline, state, causes, next, actions, unread }: Explanation) {
  const commands = commandViewsOf(actions, NOW);
  return {
    headline,
    state,
    causes: causes.map(({ text }) => text),
    ...(next && { next: next.at ? `${next.text} ${next.at}` : next.text }),
    ...(commands.length > 0 && { commands: commands.map(({ command }) => command) }),
    ...(unread.length > 0 && { unread }),
  };
}
