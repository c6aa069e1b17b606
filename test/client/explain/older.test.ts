/** Objects of an older version of this software, or of a client that dropped unknown fields: absent fields cause no error. */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const condition = (type: string, status: string, reason: string) => {
  return { type, status, reason, message: 'why', lastTransitionTime: '2026-03-01T11:00:00Z' };
};

/** A Rollout with every field. */
const FULL = {
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'Rollout',
  metadata: {
    namespace: 'shop',
    name: 'app',
    uid: 'u',
    labels: { a: 'b' },
    annotations: { 'rollout.kuberik.com/requested-by': 'bob' },
  },
  spec: {
    releasesImagePolicy: { name: 'app' },
    wantedVersion: '1.1.0',
    bakeTime: '5m',
    deployTimeout: '10m',
    gates: [{ name: 'freeze', namespace: 'flux-system' }],
    healthCheckSelector: { matchLabels: { app: 'app' } },
  },
  status: {
    pendingVersion: '1.1.0',
    conditions: [
      condition('Ready', 'True', 'RolloutSucceeded'),
      condition('DeploymentBlocked', 'True', 'GateClosed'),
      condition('Copied', 'False', 'Copying'),
    ],
    history: [
      {
        id: 2,
        version: { tag: '1.0.0', digest: 'sha256:a', revision: 'r' },
        timestamp: '2026-03-01T11:00:00Z',
        bakeStatus: 'InProgress',
        bakeStartTime: '2026-03-01T11:58:00Z',
        triggeredBy: { kind: 'User', name: 'bob' },
        approvals: [{ gate: 'a/b', at: '2026-03-01T11:00:00Z' }],
        failedHealthChecks: [{ name: 'x', namespace: 'y' }],
      },
    ],
    gates: [
      { name: 'qa', passing: true, allowedVersions: ['1.0.0'], message: 'Gate is passing' },
      { name: 'after/staging', passing: true, allowedVersions: [], message: 'waits' },
      { name: 'flux-system/freeze', kind: 'Gate', passing: false, message: 'Gate is closed: x' },
    ],
    youngReleases: [{ tag: '1.2.0', deployableAt: '2026-03-01T13:00:00Z' }],
    availableReleases: [{ tag: '1.1.0', firstSeen: '2026-03-01T10:00:00Z' }],
  },
};

type Path = (string | number)[];

/** Every path in the object that could be missing. */
function places(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    return [at, ...places(below, at)];
  });
}

function without(path: Path): Rollout {
  const copy = structuredClone(FULL) as any;
  const parent = path.slice(0, -1).reduce((at, key) => at[key], copy);
  const last = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy as Rollout;
}

/** Fields that the API server and our CRD have required of every object since the first version. */
const REQUIRED =
  /^(metadata|spec\.gates\.\d\.name|metadata\.name|status\.history\.\d\.version(\.tag)?|status\.(conditions|gates)\.\d\.\w+)$/;

const CASES = places(FULL).filter((path) => !REQUIRED.test(path.join('.')));

describe('a Rollout is explained', () => {
  it.each(CASES.map((path) => [path.join('.'), path] as const))('without %s', (_, path) => {
    const app = explainRollout(without(path), NO_RELATED, NOW);
    expect(JSON.parse(JSON.stringify(app))).toEqual(app);
    expect(app.headline).not.toContain('undefined');
    expect(app.steps.map(({ title, detail = '' }) => `${title} ${detail}`).join()).not.toContain('undefined');
  });

  it('right after it was created', () => {
    const rollout = { ...FULL, spec: undefined, status: undefined } as unknown as Rollout;
    expect(explainRollout(rollout, NO_RELATED, NOW)).toMatchObject({
      state: 'empty',
      headline: 'nothing is deployed',
      steps: [],
    });
  });

  it('has the Gates’ state from the status, or unknown, if they are in another, unreadable namespace', () => {
    const around = {
      ...NO_RELATED,
      unread: [{ kind: 'Gate' as const, namespace: 'flux-system', why: "you aren't allowed to read them" }],
    };
    const gateOf = (rollout: Rollout) => explainRollout(rollout, around, NOW).steps.find(({ kind }) => kind === 'gate');
    expect(gateOf(FULL as unknown as Rollout)).toMatchObject({ state: 'blocks', detail: 'Gate is closed: x' });
    expect(gateOf(without(['status', 'gates', 2]))).toMatchObject({ state: 'unknown' });
  });
});
