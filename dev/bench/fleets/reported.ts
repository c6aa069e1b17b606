/** Applications with statuses, for a cluster without hooks: each a Rollout with a history, and a FluxBinding. */
import { inParallel } from '../../../live/inParallel.ts';
import { API, ref, rollout } from '../../actors/objects.ts';
import { timestamp } from '../../actors/timestamp.ts';
import type { User } from '../../actors/user.ts';
import type { ObjectRef } from '../../client/resources.ts';

const WIDTH = 24;
const NAMESPACES = ['shop', 'finance', 'platform', 'identity'];
const HOUR_MS = 3_600_000;

/** The Rollout of an application. */
export const rolloutAt = (i: number): ObjectRef => ref('rollout', NAMESPACES[i % NAMESPACES.length], `app-${i}`);

/** Creates the applications from `from` to below `to`. */
export async function createReported(admin: User, from: number, to: number): Promise<void> {
  for (const name of NAMESPACES) await admin.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const apps = Array.from({ length: to - from }, (_, i) => from + i);
  await inParallel(apps, WIDTH, (i) => create(admin, i));
}

/** Creates an application with 3 to 11 deployments. One in four has a version that waits for a Gate. */
async function create(admin: User, i: number): Promise<void> {
  const about = rolloutAt(i);
  const { namespace = '', name = '' } = about.metadata;
  const tags = Array.from({ length: 3 + (i % 9) }, (_, minor) => `1.${minor}.${i % 5}`);
  const [newest, pending] = [tags.at(-1), `2.0.${i}`];
  const at = (hoursAgo: number) => timestamp(Date.now() - hoursAgo * HOUR_MS);
  const history = tags.toReversed().map((tag, hours) => ({
    id: tags.length - hours,
    version: { tag, digest: `sha256:${'0'.repeat(64)}`, revision: 'abcdef0' },
    timestamp: at(24 * hours + 2),
    message: 'Automatic deployment',
    triggeredBy: { kind: 'System', name: 'rollout-controller' },
    bakeStatus: hours % 7 === 3 ? 'Failed' : 'Succeeded',
    bakeStatusMessage: 'Bake succeeded',
    appliedTime: at(24 * hours + 2),
    bakeStartTime: at(24 * hours + 2),
    bakeEndTime: at(24 * hours + 1),
  }));
  const condition = (type: string, reason: string, message: string) => {
    return { type, status: 'True', reason, message, lastTransitionTime: at(1), observedGeneration: 1 };
  };
  const message = `Version ${pending} waits: Gate 'platform/freeze' is closed (Gate closed by default)`;
  const waiting = i % 4 === 1 && {
    pendingVersion: pending,
    releaseCandidates: [{ tag: pending }],
    conditions: [condition('DeploymentBlocked', 'GateClosed', message)],
  };
  await admin.create(rollout(namespace, name, { spec: { bakeTime: '30m' }, labels: { team: namespace } }));
  await admin.patchStatus(about, {
    revision: 1,
    observedGeneration: 1,
    currentVersion: newest,
    availableReleases: [...tags, pending].map((tag) => ({ tag, firstSeen: at(24) })),
    availableReleasesCount: tags.length + 1,
    history,
    conditions: [condition('Ready', 'Succeeded', 'Bake succeeded')],
    ...waiting,
  });
  const binding = ref('fluxBinding', namespace, `kustomization-${name}`);
  const labels = { [`${name}.rollout.kuberik.com/bound`]: '' };
  const [apiVersion, kind] = API.kustomization;
  const spec = {
    target: { apiVersion, kind, name, uid: `u-${name}` },
    fields: [{ rollout: name, variable: 'APP_VERSION' }],
  };
  await admin.create({ ...binding, metadata: { ...binding.metadata, labels }, spec });
  const summary = `${name} ${newest} (${tags.length})`;
  const conditions = [condition('Ready', 'Applied', `Applied ${newest}`)];
  await admin.patchStatus(binding, { observedGeneration: 1, summary, conditions });
}
