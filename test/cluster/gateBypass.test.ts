/** A bypass: users with the verb bypass on the Gate may write with a fresh reason, and it is recorded. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyObject, gate, sharedCluster, waitFor } from './support/cluster.ts';
import { BYPASS_REASON, BYPASSED_BY, gated, isHeld, requestGate, suspension } from './support/gates.ts';

const { admin, developer, sre, dir, newNamespace } = sharedCluster();
const reason = (text: string) => ({ annotations: { [BYPASS_REASON]: text } });

async function heldObject(): Promise<{ ns: string; object: AnyObject }> {
  const ns = await newNamespace();
  await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  const object = gated('Kustomization', ns, 'app', 'freeze');
  await developer.create(object);
  await requestGate(sre, ns, 'freeze', 'close');
  await isHeld(admin, object);
  return { ns, object };
}

/** `bypass` annotations of the API server's audit log, for one namespace. */
const audited = (ns: string) =>
  readFileSync(join(dir, 'audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"namespace":"${ns}"`) && line.includes('/bypass"'))
    .map((line) => JSON.parse(line))
    .map(({ user, verb, annotations }) => ({
      user: user.username,
      verb,
      text: Object.entries<string>(annotations).find(([key]) => key.endsWith('/bypass'))?.[1],
    }));

const recorded = (ns: string, user: string, verb: string, text: string) =>
  waitFor(async () => {
    expect(audited(ns)).toContainEqual({ user, verb, text: expect.stringContaining(text) });
    const events = await admin.list('v1', 'Event', ns);
    const found = events.filter(({ reason }) => reason === 'GateBypassed').map(({ message }) => message);
    expect(found).toContainEqual(expect.stringContaining(text));
    expect(found.join()).toContain(user);
    return true;
  }, 'the audit annotation and the Event');

describe('a user with the verb bypass', () => {
  const [name, user] = ['sre', sre];

  it('changes a held object, with user and reason in the record', async () => {
    const { ns, object } = await heldObject();
    const { object: after, warnings } = await user.mergePatch(object as never, {
      metadata: reason('INC-7: rollback'),
      spec: { path: './hotfix' },
    });
    expect(after.spec.path).toBe('./hotfix');
    expect(after.metadata.annotations?.[BYPASSED_BY]).toMatch(new RegExp(`^\\d{4}-.*Z ${name}$`));
    // The write succeeds, but Flux is still suspended: resuming is a separate bypass.
    expect(suspension(after)).toEqual([true, 'unset']);
    expect(warnings.join(' ')).toContain('still suspended');
    await recorded(ns, name, 'patch', 'INC-7: rollback');
  });

  it('deletes a held object within five minutes of giving the reason on it', async () => {
    const { ns, object } = await heldObject();
    await expect(user.remove(object as never)).rejects.toMatchObject({ code: 403 });
    await user.mergePatch(object as never, { metadata: reason('INC-9: gone for good') });
    await user.remove(object as never);
    expect(await admin.find(object as never)).toBeUndefined();
    await recorded(ns, name, 'delete', 'INC-9: gone for good');
  });
});
