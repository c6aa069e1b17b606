/**
 * The webhook's share in the time of a write of a Flux object, against a mutating and a validating webhook that allow
 * everything.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { gate, imagePolicy, kustomization, rollout } from '../actors/objects.ts';
import { User } from '../actors/user.ts';
import type { ObjectRef } from '../client/resources.ts';
import { startOtherWebhook } from '../local/otherWebhook.ts';
import { quantile } from './measure.ts';
import type { Figure, Scenario } from './scenario.ts';

/** The limit of the p99, in multiples of that of webhooks that allow everything. */
const P99_RATIO = 2.5;
const NAMESPACE = 'bench';
const ALLOWED = 'allow-all';
const ALLOWED_LABEL = { 'bench.rollout-hooks/allowed': 'true' };
const GATES = ['one', 'two', 'three'];
const SUBJECTS: Record<string, { variables?: Record<string, string>; annotations?: Record<string, string> }> = {
  unmarked: {},
  managed: { variables: { APP_VERSION: 'app' } },
  'one-gate': { annotations: { 'gate.fluxcd.io/gates': 'one' } },
  'three-gates': { annotations: { 'gate.fluxcd.io/gates': GATES.join(',') } },
};

export const admission: Scenario = {
  about: `a write of a Flux object, against webhooks that allow everything; of one with a managed field, p99 at most ${P99_RATIO} times theirs`,
  // A pause of less than 100 ms measures the API server, which brings its cache up to date ten times a second.
  numbers: { writes: 200, pause: 120 },
  async measure({ cluster, numbers: { writes = 1, pause = 0 } }) {
    const admin = new User(cluster.accessOf('admin'));
    const allowAll = await startOtherWebhook(admin.access, ALLOWED, ALLOWED_LABEL, {
      kind: { group: 'image.toolkit.fluxcd.io', resource: 'imagepolicies' },
    });
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    for (const name of GATES)
      await admin.create(gate(NAMESPACE, name, { spec: { default: 'opened', interval: '1h' } }));
    await admin.create(rollout(NAMESPACE, 'app'));
    // A kind that our webhooks don't handle.
    const neutral = imagePolicy(NAMESPACE, ALLOWED);
    await admin.create({ ...neutral, metadata: { ...neutral.metadata, labels: ALLOWED_LABEL } });
    const subjects = Object.entries(SUBJECTS).map(([name, marks]) => kustomization(NAMESPACE, name, marks));
    for (const subject of subjects) await admin.create(subject);

    /** Milliseconds of a write that changes the spec. */
    async function write(about: ObjectRef, round: number): Promise<number> {
      const spec =
        about.kind === 'ImagePolicy' ? { policy: { semver: { range: `>=${round}` } } } : { path: `./${round}` };
      const start = performance.now();
      await admin.mergePatch(about, { spec });
      return performance.now() - start;
    }

    // The API server needs a moment before it calls a new webhook.
    for (let round = 0; allowAll.calls() < 2; round++) await write(neutral as ObjectRef, round);
    const times = new Map([neutral, ...subjects].map((object) => [object as ObjectRef, [] as number[]]));
    // In turn, so that other load of the machine affects all of them.
    for (let round = 0; round < writes; round++) {
      for (const [about, list] of times) {
        await wait(pause);
        list.push(await write(about, round));
      }
    }
    allowAll.close();
    const base = times.get(neutral as ObjectRef)!;
    return [...times].flatMap(([{ metadata }, list]) =>
      [0.5, 0.99].flatMap((q): Figure[] => {
        const [group, name] = [`${writes} writes: ${metadata.name}`, `p${q * 100}`];
        const value = quantile(list, q) / quantile(base, q);
        const isLimited = metadata.name === 'managed' && q === 0.99;
        return [
          { group, name, value: quantile(list, q), unit: 'ms' },
          { group, name: `${name} against ${ALLOWED}`, value, unit: '×', ...(isLimited && { limit: P99_RATIO }) },
        ];
      }),
    );
  },
};
