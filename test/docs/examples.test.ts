/** Examples in the pages can be applied unchanged. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '../../api/kinds.ts';
import { templateProblem } from '../../core/health/job/checkJob.ts';
import { type Manifest, objectsBelow } from '../manifests/files.ts';
import { isOurs, problemsOf } from '../manifests/schema.ts';
import { PAGES, ROOT } from './tables.ts';

const files = ['README.md', ...PAGES.map((page) => `docs/${page}`)];
const examples = files.flatMap((file) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^apiVersion: [\s\S]*?(?=^(?:```|EOF)$)/gm)]
    .flatMap(([text]) => parseAllDocuments(text).map((document) => document.toJS() as Manifest))
    .map((object) => [`${file}: ${object.kind} ${object.metadata?.name}`, object] as const),
);

describe('examples', () => {
  it('are found', () => expect(examples.length).toBeGreaterThan(8));

  it.each(examples.filter(([, object]) => isOurs(object)))('%s', (_, object) => {
    expect(problemsOf(object)).toEqual([]);
  });

  const shipped = objectsBelow('examples').map((object) => [`${object.kind} ${object.metadata.name}`, object] as const);
  const selecting = [...examples, ...shipped].filter(([, { kind, spec }]) => kind === 'Gate' && spec?.selects);

  it.each(selecting)('%s freezes syncs or sources, not both, as docs/gates.md describes', (_, { spec }) => {
    const roles = ((spec.selects.kinds ?? Object.keys(KINDS)) as (keyof typeof KINDS)[])
      .map((kind) => ('governed' in KINDS[kind] ? KINDS[kind].governed : undefined))
      .filter((role) => role !== undefined);
    expect(new Set(roles).size).toBeLessThanOrEqual(1);
  });

  const jobs = examples.filter(([, { kind, spec }]) => kind === 'HealthCheck' && spec?.job);

  it.each(jobs)('%s can be run', (_, { spec }) => {
    expect(templateProblem(spec.job.template)).toBeUndefined();
  });

  it('show RolloutGates that hold something', () => {
    const gates = [...examples, ...shipped].filter(([, { kind }]) => kind === 'RolloutGate');
    expect(gates.length).toBeGreaterThan(2);
    const holdsNothing = gates.filter(
      ([, { spec }]) => spec.passing !== false && !spec.approvals && !spec.allowedVersions && !spec.rejectedVersions,
    );
    expect(holdsNothing.map(([name]) => name)).toEqual([]);
  });
});
