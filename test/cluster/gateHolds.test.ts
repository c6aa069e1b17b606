/** Effects of a closed Gate on the objects that require it, and of its opening. */
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { type AnyObject, gate, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import {
  conditionText,
  GOVERNED,
  type Governed,
  gated,
  isFree,
  isHeld,
  requestGate,
  SELECTED_BY,
} from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const opened = { spec: { default: 'opened' } };
const read = (object: AnyObject) => admin.get(object as never);

describe('suspension and its undoing', () => {
  const before = [undefined, true, false];
  const name = (suspend: boolean | undefined) => `was-${suspend ?? 'unset'}`;

  it('each kind, with suspend unset, true and false before, gets its value back', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', opened));
    const objects = GOVERNED.flatMap(({ kind }) =>
      before.map((suspend) => gated(kind, ns, name(suspend), 'freeze', suspend === undefined ? {} : { suspend })),
    );
    for (const object of objects) await developer.create(object);
    const specs = await Promise.all(objects.map(async (object) => (await read(object)).spec));
    const role = (kind: Governed) => (KINDS[kind].governed === 'source' ? 'Blocked' : 'Approved');
    await requestGate(sre, ns, 'freeze', 'close');
    for (const object of objects) {
      await isHeld(admin, object, object.spec.suspend === undefined ? 'unset' : String(object.spec.suspend));
      await waitFor(
        async () =>
          conditionText(await read(object), role(object.kind as Governed))?.includes(`'${ns}/freeze' is closed.`),
        `${object.kind} to say why it waits`,
      );
    }
    await requestGate(sre, ns, 'freeze', 'open');
    for (const [i, object] of objects.entries()) {
      expect((await isFree(admin, object, object.spec.suspend)).spec).toEqual(specs[i]);
    }
  });
});

describe('DELETE', () => {
  it('of the whole Namespace is not held up by any gate', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    for (const kind of ['Kustomization', 'HelmRelease'] as const)
      await developer.create(gated(kind, ns, 'app', 'freeze'));
    await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'freeze' }] } }));
    await admin.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } });
    await waitFor(
      async () => !(await admin.find({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } })),
      'the Namespace to be gone',
      60_000,
    );
  });
});

describe('a new object that a closed Gate selects', () => {
  const isSuspended = ({ object }: { object: AnyObject }) => {
    expect(object.spec.suspend).toBe(true);
    expect(object.metadata.annotations).toMatchObject({ [SELECTED_BY]: expect.stringMatching(/\/freeze$/) });
  };

  it('is returned suspended by the call that creates it, whatever its kind', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', { spec: { default: 'closed', selects: {} } }));
    for (const { kind } of GOVERNED) isSuspended(await developer.create(gated(kind, ns, 'new')));
    const named = gated('Kustomization', ns, 'gets-its-name');
    const { name: _, ...metadata } = named.metadata;
    isSuspended(await developer.create({ ...named, metadata: { ...metadata, generateName: 'new-' } } as AnyObject));
    const marked = gated('Kustomization', ns, 'marked');
    marked.metadata.annotations = { 'gate.fluxcd.io/x': '' };
    isSuspended(await developer.create(marked));
    isSuspended(await developer.apply(gated('Kustomization', ns, 'applied'), { manager: 'kustomize-controller' }));
  });

  it('in a Namespace that was made a moment ago', async () => {
    const platform = await newNamespace();
    const team = `new-${platform}`;
    const selects = { namespaceSelector: { matchLabels: { team } } };
    await sre.create(gate(platform, 'freeze', { spec: { default: 'closed', selects } }));
    const ns = await newNamespace({ team });
    isSuspended(await developer.create(gated('HelmRelease', ns, 'app')));
  });
});
