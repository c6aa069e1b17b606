/** The tables of docs/ have exactly what the code has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as annotations from '../../api/annotations.ts';
import * as conditions from '../../api/conditions.ts';
import { LOGGED } from '../../api/decisions.ts';
import { COPY_OUTCOMES } from '../../core/releaseCopy/outcome.ts';
import { codeIn, ROOT, type Row, readPage, rowsOf, TABLES, table } from './tables.ts';

it('each row of the table of tenancy is complete', () => {
  for (const row of table('tenancy')) expect(Object.values(row).every((cell) => cell !== '')).toBe(true);
  expect(table('tenancy').length).toBeGreaterThan(0);
});

it('outcomes of a copy are those of core/releaseCopy/outcome.ts', () => {
  const documented = table('copy-outcomes').map((row) => [codeIn(row.outcome), Number(row['exit code'])]);
  expect(Object.fromEntries(documented)).toEqual(COPY_OUTCOMES);
});

describe('annotations and labels', () => {
  /** Annotations with placeholders for names. */
  const PATTERNS = [
    'rollout.kuberik.com/substitute.<VAR>.from',
    '<rollout>.rollout.kuberik.com/bound',
    '<hash>.slot.rollout.kuberik.com/granted',
  ];
  const BEHIND_PATTERNS: string[] = [annotations.BOUND_LABEL_SUFFIX, annotations.SLOT_LABEL_SUFFIX];
  const keys = Object.values(annotations)
    .filter((value) => typeof value === 'string')
    .filter((key) => !key.endsWith('/') && !BEHIND_PATTERNS.includes(key));
  const documented = TABLES.filter(({ name }) => name === 'annotations').flatMap(({ rows }) =>
    rows.map((row) => codeIn(Object.values(row)[0])),
  );

  it('are those of api/annotations.ts: at most once in a table of each page, and in the reference', () => {
    expect(documented.filter((key) => ![...keys, ...PATTERNS].includes(key))).toEqual([]);
    expect(documented.filter((key, i) => documented.indexOf(key) !== i)).toEqual([]);
    const listed = rowsOf(readPage('reference/annotations.md')).map(({ key }) => codeIn(key));
    expect(listed.sort()).toEqual([...new Set([...keys, ...BEHIND_PATTERNS])].sort());
  });

  it('with a name in them are understood as they are written', () => {
    expect('rollout.kuberik.com/substitute.APP_VERSION.from').toMatch(annotations.SUBSTITUTE_FROM);
  });
});

describe('conditions and Events', () => {
  /** Tables with the reasons of a folder, and capitalised words of the folder that are no reasons. */
  const FOLDERS: Record<string, { tables: string[]; words: string }> = {
    'core/rollout core/rollout/evaluation core/rollout/upstream core/rollout/deployment core/rollout/release': {
      tables: ['conditions Rollout', 'conditions RolloutGate', 'events Rollout'],
      words:
        'True False Warning Failed Succeeded Cancelled Deploying InProgress Healthy Unhealthy Hold Continue Rollback User System ' +
        'FluxBinding ConfigMap HealthChecks AfterBake RolloutGate ' +
        // Those of status.blockers and history[].origin have their own tables.
        'Problem Health Gate Bake Failure Approvals Upstream MinimumAge PinnedVersion Copy Budget Blocks Waits ' +
        'Automatic Manual InitialVersion Adopted ForceDeploy GateBypass FailedBakeUnblock',
    },
    'core/approval': { tables: ['events RolloutGate'], words: 'Warning Normal ServiceAccount' },
    'core/budget': {
      tables: ['conditions RolloutBudget', 'events RolloutBudget', 'conditions Rollout'],
      words:
        'True False Warning Normal Ready Rollout RolloutBudget Failed Succeeded Cancelled Deploying InProgress Ended Declined Deleted Revoked Granted Revoking Baking Exists Budget Blocks Waits',
    },
    'core/gate core/receiver': { tables: ['conditions Gate', 'events Gate'], words: 'True False Open Normal' },
    'core/managedField core/suspension core/objectGates core/admission core/binding': {
      tables: ['conditions FluxBinding', 'conditions Flux'],
      words:
        'True False Unknown Apply Ready Missing Waiting Kustomization HelmRepository FluxBinding Requested Failing Done Deleting Suspended ' +
        'PruneFailed HealthCheckFailed HealthCheckCanceled OCIRepository FetchFailed Failed Cancelled NotInInventory ' +
        'NotMarked NotSuspended NotResumed WaitsForApplier ReconciliationSucceeded',
    },
    'core/calendar': {
      tables: ['conditions Schedule'],
      words:
        'True False Monday Tuesday Wednesday Thursday Friday Saturday Sunday Local Allow Passing Holding RolloutGate',
    },
    hooks: {
      tables: ['conditions Gate'],
      words:
        'Rollout RolloutGate RolloutSchedule ClusterRolloutSchedule RolloutBudget ClusterRolloutBudget Gate FluxBinding HealthCheck Kustomization ImagePolicy ' +
        'Namespace Normal Exists Unhealthy Unknown HookError ConfigMap ImageRepository Job',
    },
    webhooks: {
      tables: ['events Gate'],
      words:
        'Warning Gate Gates RolloutGate Forbidden RequestEntityTooLarge TooManyRequests AdmissionReview Kustomization',
    },
  };
  const reasonsIn = (rows: Row[]) => rows.map(({ reason }) => codeIn(reason));

  it.each(Object.entries(FOLDERS))('%s: every reason has a row', (folder, { tables, words }) => {
    const known = new Set([
      ...tables.flatMap((name) => reasonsIn(table(name))),
      ...Object.keys(LOGGED),
      ...words.split(' '),
    ]);
    expect(capitalWords(folder).filter((word) => !known.has(word))).toEqual([]);
  });

  it('every row has a reason that the code uses', () => {
    const said = new Set(Object.keys(FOLDERS).flatMap(capitalWords));
    for (const reason of [
      conditions.GATE_CLOSED,
      conditions.GATES_OPEN,
      conditions.WAITING_FOR_ROLLOUT_GATES,
      conditions.WAITING_FOR_ROLLOUTS,
      conditions.WAITING_FOR_BUDGET,
    ])
      said.add(reason);
    const documented = TABLES.filter(({ name }) => /^(conditions|events) /.test(name)).flatMap(({ rows }) =>
      reasonsIn(rows),
    );
    expect(documented.filter((reason) => !said.has(reason))).toEqual([]);
  });

  it('every condition of a Rollout that a scenario expects has a row with its status', () => {
    const folder = join(ROOT, 'test/scenario/rollout');
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const expected = texts.flatMap((text) =>
      [...text.matchAll(/\b(\w+): "?((?:True|False)\/\w+)/g)].map(([, ...is]) => is.join(' ')),
    );
    const documented = table('conditions Rollout').map(
      (row) => `${codeIn(row.type)} ${row.status}/${codeIn(row.reason)}`,
    );
    expect(expected.length).toBeGreaterThan(20);
    expect([...new Set(expected)].filter((condition) => !documented.includes(condition))).toEqual([]);
  });

  it('the types are those of api/conditions.ts', () => {
    const { GATE_CLOSED, GATES_OPEN, ...types } = conditions;
    const documented = TABLES.filter(({ name }) => name.startsWith('conditions ')).flatMap(({ rows }) =>
      rows.map(({ type }) => codeIn(type)),
    );
    expect([...new Set(documented)].sort()).toEqual(Object.values(types).sort());
  });
});

/** String literals in the form of reasons: capitalized words. */
/** Words in capitals in the files of these folders, and of those below. */
function capitalWords(folders: string): string[] {
  const texts = folders.split(' ').flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  const words = texts.flatMap((text) =>
    [...text.matchAll(/'([A-Z][a-z]+(?:[A-Z][a-z]+)*)'/g)].map(([, word]) => word!),
  );
  return [...new Set(words)];
}
