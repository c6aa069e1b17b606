/** The role of an approver of RolloutGates. */
import { describe, expect, it } from 'vitest';
import { gitSync } from '../../dev/actors/gitSync.ts';
import { type AnyObject, ref, rollout, rolloutGate, sharedCluster, waitFor } from './support/cluster.ts';
import { grant } from './support/grant.ts';

const { admin, developer, sre, flux, newNamespace, publish } = sharedCluster();

const P = 'rollout.kuberik.com/';
const PEOPLE = ['alice', 'bob', 'carol'];

/** A Rollout `app` with a RolloutGate `prod`, and users with the role of an approver. */
async function scenario(approvals: Record<string, unknown>) {
  const ns = await newNamespace();
  const prod = ref('rolloutGate', ns, 'prod');
  await grant(admin, ns, 'rolloutgate-approver', PEOPLE);
  await sre.create(rolloutGate(ns, 'prod', 'app', { approvals }));
  await developer.create(rollout(ns, 'app'));
  /** The API server's authorizer may not have the binding yet. */
  await waitFor(async () => (await patch('alice', { metadata: {} })).object, 'the right to patch');

  function patch(user: string, body: object) {
    return admin.mergePatch(prod, body, { headers: { 'Impersonate-User': user } });
  }
  return {
    ns,
    prod,
    patch,
    approve: (user: string, version: string, reason = 'CHG-1') =>
      patch(user, { metadata: { annotations: { [`${P}approve`]: version, [`${P}approve-reason`]: reason } } }),
  };
}

const isKnown = (ns: string, version: string) =>
  waitFor(async () => {
    const { status } = await admin.get(ref('rollout', ns, 'app'));
    return status?.availableReleases?.some(({ tag }: AnyObject) => tag === version);
  }, `${version} to be known`);

describe('an approver of a RolloutGate', () => {
  it('its role may approve and nothing else', async () => {
    const { ns, prod, patch, approve } = await scenario({ required: 2 });
    await publish(ns, 'app', '1.0.0');
    await isKnown(ns, '1.0.0');
    const attempts: object[] = [
      { spec: { approvals: { required: 1 } } },
      { spec: { approvals: null } },
      { metadata: { annotations: { other: 'text' } } },
      { metadata: { labels: { a: 'b' } } },
      { metadata: { finalizers: ['example.com/stay'] } },
      { spec: { passing: false }, metadata: { annotations: { [`${P}approve`]: '1.0.0' } } },
    ];
    for (const attempt of attempts) {
      await expect(patch('alice', attempt), JSON.stringify(attempt)).rejects.toThrow(
        'may approve here and change nothing',
      );
    }
    await approve('alice', '1.0.0');
    await patch('alice', { metadata: { annotations: { [`${P}unapprove`]: '1.0.0' } } });
    expect((await admin.get(prod)).metadata.annotations?.[`${P}approvals`]).toBeUndefined();
    await expect(approve('alice', '1.0.O')).rejects.toThrow("Rollout 'app' has no release 1.0.O");
  });

  /** A RolloutGate that a Git sync has applied, and its entry in managedFields. */
  async function applied() {
    const made = await scenario({ required: 2 });
    await publish(made.ns, 'app', '1.0.0');
    await isKnown(made.ns, '1.0.0');
    const sync = gitSync(flux, { namespace: made.ns, name: 'parent' });
    await sync([rolloutGate(made.ns, 'prod', 'app', { passing: true, approvals: { required: 2 } })]);
    const { managedFields = [] } = (await admin.get(made.prod)).metadata;
    const entry = managedFields.find(({ operation }) => operation === 'Apply')!;
    return { ...made, managedFields, entry };
  }
  const approval = { annotations: { [`${P}approve`]: '1.0.0' } };

  it('its role can’t take over or give away field ownership', async () => {
    const { patch, managedFields, entry } = await applied();
    const others = managedFields.filter((each) => each !== entry);
    const forged = { ...entry, fieldsV1: { ...entry.fieldsV1, 'f:spec': { 'f:allowedVersions': {} } } };
    const attempts: Record<string, object> = {
      reset: { managedFields: [{}] },
      'reset beside an approval': { ...approval, managedFields: [{}] },
      removed: { managedFields: others },
      changed: { managedFields: [...others, forged] },
      'one more': { managedFields: [...managedFields, { ...forged, manager: 'another' }] },
    };
    const outcomes: Record<string, string> = {};
    for (const [name, metadata] of Object.entries(attempts)) {
      outcomes[name] = await patch('alice', { metadata }).then(
        () => 'stored',
        ({ message }: Error) => /may approve here and not change \S+/.exec(message)?.[0] ?? message,
      );
    }
    const refused = 'may approve here and not change metadata.managedFields:';
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(attempts).map((name) => [name, refused])));
  });

  it('its role approves by any client, also where more of them have written than the API server keeps apart', async () => {
    const { prod, entry } = await applied();
    const approve = (user: string, fieldManager: string) =>
      admin.mergePatch(prod, { metadata: approval }, { headers: { 'Impersonate-User': user }, fieldManager });
    const givenBy = async () => {
      const { given = [] } = JSON.parse((await admin.get(prod)).metadata.annotations?.[`${P}approvals`] ?? '{}');
      return given.map(({ by }: AnyObject) => by);
    };
    await approve('alice', 'kubectl-annotate');
    await approve('bob', 'kubectl-annotate');
    expect(await givenBy()).toEqual(['alice', 'bob']);
    for (let i = 0; i < 12; i++) {
      await sre.mergePatch(
        prod,
        { metadata: { annotations: { [`example.com/${i}`]: 'x' } } },
        { fieldManager: `m${i}` },
      );
    }
    await approve('carol', 'dashboard');
    expect(await givenBy()).toEqual(['alice', 'bob', 'carol']);
    const { managedFields = [] } = (await admin.get(prod)).metadata;
    expect(managedFields.find(({ operation }) => operation === 'Apply')).toEqual(entry);
  });
});
