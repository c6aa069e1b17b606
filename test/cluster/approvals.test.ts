/** Approvals by more than one, with people who may approve and nothing else. */
import { describe, expect, it } from 'vitest';
import { gitSync } from '../../dev/actors/gitSync.ts';
import { type AnyObject, ref, rollout, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { conditionOf, history } from './support/versions.ts';

const { admin, developer, sre, flux, newNamespace, publish } = sharedCluster();

const P = 'rollout.kuberik.com/';
const PEOPLE = ['alice', 'bob', 'carol'];

/** A Rollout `app` behind a RolloutGate `prod`, and people with the role of an approver. */
async function story(approvals: Record<string, unknown>) {
  const ns = await newNamespace();
  const prod = ref('rolloutGate', ns, 'prod');
  const app = ref('rollout', ns, 'app');
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace: ns, name: 'approvers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'rolloutgate-approver' },
    subjects: PEOPLE.map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  });
  await sre.create(rolloutGate(ns, 'prod', 'app', { approvals }));
  await developer.create(rollout(ns, 'app'));
  /** The authorizer of the API server may not know the binding yet. */
  await waitFor(async () => (await patch('alice', { metadata: {} })).object, 'the right to patch');

  function patch(user: string, body: object) {
    return admin.mergePatch(prod, body, { headers: { 'Impersonate-User': user } });
  }
  return {
    ns,
    prod,
    app,
    patch,
    approve: (user: string, version: string, reason = 'CHG-1') =>
      patch(user, { metadata: { annotations: { [`${P}approve`]: version, [`${P}approve-reason`]: reason } } }),
    waitsWith: (text: string) =>
      waitFor(async () => {
        const { status } = await admin.get(app);
        expect(conditionOf({ status } as AnyObject, 'DeploymentBlocked')?.message).toContain(text);
        return true;
      }, text),
    deployed: () => history(admin, ns, 'app'),
  };
}

const isKnown = (ns: string, version: string) =>
  waitFor(async () => {
    const { status } = await admin.get(ref('rollout', ns, 'app'));
    return status?.availableReleases?.some(({ tag }: AnyObject) => tag === version);
  }, `${version} to be known`);

describe('approvals on a RolloutGate', () => {
  it('two persons let a version go; who they were is in status, history and Events', async () => {
    const { ns, prod, app, approve, waitsWith } = await story({ required: 2 });
    await publish(ns, 'app', '1.0.0');
    await waitsWith("RolloutGate 'prod': 0 of 2 approvals");
    await approve('alice', '1.0.0');
    await waitsWith('1 of 2 approvals (alice)');
    await waitFor(
      async () => (await admin.get(prod)).status?.approvals?.progress === '1/2 for 1.0.0',
      'the progress to be shown',
    );
    const { object } = await approve('bob', '1.0.0', 'tested');
    expect(Object.keys(object.metadata.annotations ?? {})).toEqual([`${P}approvals`]);
    const head = await waitFor(async () => (await admin.get(app)).status?.history?.[0], 'the deployment');
    expect(head.approvals).toMatchObject([
      { kind: 'RolloutGate', gate: 'prod', by: 'alice', reason: 'CHG-1' },
      { kind: 'RolloutGate', gate: 'prod', by: 'bob', reason: 'tested' },
    ]);
    await waitFor(async () => {
      const events = await admin.list<AnyObject>('events.k8s.io/v1', 'Event', ns);
      const said = events
        .filter(({ regarding }) => regarding.name === 'prod')
        .map(({ reason, note }) => `${reason}: ${note}`);
      expect(said).toEqual(
        expect.arrayContaining([
          'Approved: 1.0.0 is approved by alice: CHG-1 (1 of 2 approvals)',
          'ApprovalsComplete: 1.0.0 has 2 of 2 approvals: alice, bob',
        ]),
      );
      return true;
    }, 'the Events');
  });

  it('who asked for a version cannot approve it, before or after', async () => {
    const { ns, app, approve, waitsWith } = await story({ required: 1, notBy: ['requester'] });
    await publish(ns, 'app', '1.0.0');
    await isKnown(ns, '1.0.0');
    const asked = { metadata: { annotations: { [`${P}force-deploy`]: '1.0.0' } } };
    const { warnings: waiting } = await developer.mergePatch(app, asked);
    expect(waiting).toEqual(['version 1.0.0 waits: RolloutGate prod has 0 of 1 approval']);
    const self = { metadata: { annotations: { [`${P}approve`]: '1.0.0' } } };
    const { warnings } = await admin.mergePatch(ref('rolloutGate', ns, 'prod'), self, {
      headers: { 'Impersonate-User': 'developer', 'Impersonate-Group': 'system:masters' },
    });
    expect(warnings).toEqual(['you asked for 1.0.0: your approval does not count for it (spec.approvals.notBy)']);
    await waitsWith('0 of 1 approval (developer asked for it and does not count)');
    await approve('carol', '1.0.0');
    const head = await waitFor(async () => (await admin.get(app)).status?.history?.[0], 'the deployment');
    expect(head).toMatchObject({ requestedBy: 'developer', approvals: [{ by: 'carol' }] });
  });

  it('a Git sync that strips them, and one that brings one along, change nothing', async () => {
    const { ns, prod, approve, waitsWith } = await story({ required: 2 });
    await publish(ns, 'app', '1.0.0');
    await waitsWith('0 of 2 approvals');
    await approve('alice', '1.0.0');
    // Until its status is told: a sync that meets that write in between is tried again later.
    await waitFor(async () => (await admin.get(prod)).status?.approvals?.progress === '1/2 for 1.0.0', 'the progress');
    const manifest = rolloutGate(ns, 'prod', 'app', { passing: true, approvals: { required: 2 } });
    const sync = gitSync(flux, { namespace: ns, name: 'parent' });
    expect((await sync([manifest])).failed).toBeUndefined();
    const own = { ...manifest, metadata: { ...manifest.metadata, annotations: { [`${P}approve`]: '1.0.0' } } };
    expect(await sync([own])).toMatchObject({ unchanged: ['RolloutGate prod'] });
    await flux.jsonPatch(prod, [{ op: 'remove', path: '/metadata/annotations' }]);
    const { given } = JSON.parse((await admin.get(prod)).metadata.annotations?.[`${P}approvals`] ?? '{}');
    expect(given.map(({ by }: AnyObject) => by)).toEqual(['alice']);
    await waitsWith('1 of 2 approvals (alice)');
  });

  it('its role may approve and nothing else', async () => {
    const { ns, prod, patch, approve } = await story({ required: 2 });
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

  /** A gate that a Git sync has applied, and its entry in managedFields. */
  async function applied() {
    const made = await story({ required: 2 });
    await publish(made.ns, 'app', '1.0.0');
    await isKnown(made.ns, '1.0.0');
    const sync = gitSync(flux, { namespace: made.ns, name: 'parent' });
    await sync([rolloutGate(made.ns, 'prod', 'app', { passing: true, approvals: { required: 2 } })]);
    const { managedFields = [] } = (await admin.get(made.prod)).metadata;
    const entry = managedFields.find(({ operation }) => operation === 'Apply')!;
    return { ...made, managedFields, entry };
  }
  const approval = { annotations: { [`${P}approve`]: '1.0.0' } };

  it('its role cannot take a field from whoever owns it, nor give one away', async () => {
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

  it('in another’s name are dropped, and whoever forges them is told', async () => {
    const { prod, patch } = await story({ required: 2 });
    const given = [{ version: '1.0.0', by: 'b\no\nb', at: '2026-03-01T12:00:00Z' }];
    const forged = { metadata: { annotations: { [`${P}approvals`]: JSON.stringify({ given }) } } };
    const { warnings } = await patch('alice', forged);
    expect(warnings).toEqual([
      'dropped: 1.0.0 approved by b o b is your text, not their write',
      `${P}approvals is the webhook's record: what you write in it is dropped`,
    ]);
    expect((await admin.get(prod)).metadata.annotations?.[`${P}approvals`]).toBeUndefined();
  });

  it('expire, each by its own time', async () => {
    const { ns, prod, approve, deployed } = await story({ required: 2, expireAfter: '3s' });
    await publish(ns, 'app', '1.0.0');
    await isKnown(ns, '1.0.0');
    await approve('alice', '1.0.0');
    await waitFor(async () => (await admin.get(prod)).status?.approvals?.versions?.length === 1, 'the approval');
    await waitFor(async () => (await admin.get(prod)).status?.approvals?.versions === undefined, 'its end');
    await approve('bob', '1.0.0');
    await staysTrue(async () => (await deployed()).length === 0, 'nothing to be deployed', 1000);
    await waitFor(async () => {
      await approve('alice', '1.0.0');
      await approve('bob', '1.0.0');
      return (await deployed()).length === 1;
    }, 'the deployment');
  });

  it('that somebody changes are told, with who did it: fewer, another Rollout for a moment, a deletion', async () => {
    const { ns, prod, approve, waitsWith, deployed } = await story({ required: 2 });
    const told = async () =>
      (await admin.list<AnyObject>('events.k8s.io/v1', 'Event', ns))
        .filter(({ reason, type }) => reason === 'ApprovalsChanged' && type === 'Warning')
        .map(({ regarding, note }) => `${regarding.kind} ${regarding.name}: ${note.replace(/ at 20\S+?Z/, '')}`);
    const isTold = (text: string) => waitFor(async () => (await told()).includes(text), text);
    await publish(ns, 'app', '1.0.0');
    await waitsWith('0 of 2 approvals');
    await approve('alice', '1.0.0');
    await waitFor(async () => (await admin.get(prod)).status?.approvals?.versions?.length === 1, 'the approval');
    await sre.mergePatch(prod, { spec: { approvals: { required: 1 } } });
    await waitFor(async () => (await deployed()).length === 1, 'the deployment');
    await isTold('RolloutGate prod: sre changed spec.approvals.required from 2 to 1; there were 1/2 for 1.0.0');

    await sre.mergePatch(prod, { spec: { rolloutRef: { name: 'other' } } });
    await sre.mergePatch(prod, { spec: { rolloutRef: { name: 'app' }, approvals: { notBy: ['author'] } } });
    await waitFor(async () => {
      const moved = (await told()).filter((text) => text.includes('rolloutRef')).map((text) => text.split(';')[0]);
      expect(moved.sort()).toEqual([
        'RolloutGate prod: sre changed spec.rolloutRef.name from app to other',
        'RolloutGate prod: sre changed spec.rolloutRef.name from other to app, spec.approvals.notBy from none to author',
      ]);
      return true;
    }, 'both moves');

    await sre.remove(prod);
    await waitFor(async () => {
      const [deletion = ''] = (await told()).filter((text) => text.startsWith('Rollout '));
      expect(deletion).toMatch(/^Rollout app: sre deleted RolloutGate 'prod', which required 1 approval/);
      return true;
    }, 'the deletion');
  });
});
