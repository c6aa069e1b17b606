/** The stories of the gating RFC, with its own manifests, on the clock of this machine. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AnyObject, ref, sharedCluster, staysTrue } from './support/cluster.ts';
import { ask, conditionText, isFree, isHeld, saysSoon, timestamp } from './support/gates.ts';

const { admin, developer, sre } = sharedCluster();
const text = readFileSync(new URL('./gateStories.yaml', import.meta.url), 'utf8');
const rfc: Record<string, AnyObject> = parse(text);
const { sreApproval, maintenance, qaApproval, changeFreeze, myApp, fluxSystem, existingState } = rfc as Required<
  typeof rfc
>;

const HOUR = 3_600_000;
const seconds = (count: number) => count * 1000;
const open = (name: string, at?: string) => ask(sre, 'flux-system', name, 'open', at ? { at } : {});
const close = (name: string, at?: string) => ask(sre, 'flux-system', name, 'close', at ? { at } : {});
const opened = (status: 'True' | 'False', message: string) => `${status} ReconciliationSucceeded: ${message}`;
const read = (object: AnyObject | undefined) => admin.get(object as never);
const APPROVED = 'True GatesOpen: All gates are open.';
const WAITS = "False GateClosed: Reconciliation is waiting approval, gate 'flux-system/sre-approval' is closed.";

/** A request so old that what is left of the window is this long: the manifests keep their hours. */
const sinceWindowLeft = (window: number, left: number) => timestamp(Date.now() - window + left);

beforeAll(async () => {
  for (const object of [sreApproval, maintenance, qaApproval, changeFreeze]) await sre.create(object!);
});

describe('Story 1: deployments happen only in a time frame of my own choosing', () => {
  it('a new gate is closed by default, and what requires it waits for an approval', async () => {
    const gate = await saysSoon(admin, sreApproval!, 'Opened', opened('False', 'Gate closed by default'));
    expect(gate.status).not.toHaveProperty('requestedAt');
    expect(gate.status).not.toHaveProperty('resetToDefaultAt');
    const { warnings } = await developer.create(myApp!);
    expect(warnings).toEqual(['Kustomization my-app is suspended: gate flux-system/sre-approval is closed']);
    await saysSoon(admin, myApp!, 'Approved', WAITS);
    await isHeld(admin, myApp!);
  });

  it('opening it approves for the window, and the window closes it by itself', async () => {
    const at = sinceWindowLeft(HOUR, seconds(9));
    const until = timestamp(Date.parse(at) + HOUR);
    await open('sre-approval', at);
    const gate = await saysSoon(
      admin,
      sreApproval!,
      'Opened',
      opened('True', `Gate scheduled for closing at ${until}, opened by sre`),
    );
    expect(gate.status).toMatchObject({ requestedAt: at, resetToDefaultAt: until, nextTransition: until });
    await saysSoon(admin, myApp!, 'Approved', APPROVED);
    await isFree(admin, myApp!);
    await saysSoon(admin, sreApproval!, 'Opened', opened('False', 'Gate closed by default'));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
    expect(Date.now()).toBeLessThan(Date.parse(until) + seconds(10));
    await saysSoon(admin, myApp!, 'Approved', WAITS);
    await isHeld(admin, myApp!);
    expect((await read(sreApproval)).status).toMatchObject({ requestedAt: at, resetToDefaultAt: until });
  });
});

describe('Story 2: existing deployments are still reconciled during a change freeze', () => {
  it('the gated source is blocked, the Kustomization beside it goes on', async () => {
    await developer.create(fluxSystem!);
    await developer.create(existingState!);
    await saysSoon(admin, fluxSystem!, 'Blocked', 'False GatesOpen: All gates are open.');
    await close('change-freeze');
    await saysSoon(
      admin,
      fluxSystem!,
      'Blocked',
      "True GateClosed: Reconciliation is blocked as gate 'flux-system/change-freeze' is closed.",
    );
    await isHeld(admin, fluxSystem!);
    // Flux takes no new revision, and goes on applying the artifact it has.
    await staysTrue(async () => !(await read(existingState)).spec.suspend, 'the Kustomization runs', 1000);
    expect(conditionText(await read(existingState), 'Approved')).toBeUndefined();
    await developer.mergePatch(existingState as never, { spec: { interval: '5m' } });
    await expect(
      developer.mergePatch(fluxSystem as never, { spec: { url: 'https://other.example.com' } }),
    ).rejects.toThrow(/flux-system\/change-freeze' is closed/);
    await open('change-freeze');
    await isFree(admin, fluxSystem!);
    await saysSoon(admin, fluxSystem!, 'Blocked', 'False GatesOpen: All gates are open.');
  });

  it('the refusal says which gate, why, until when, and how to open it', async () => {
    const at = timestamp();
    await close('change-freeze', at);
    const until = timestamp(Date.parse(at) + 24 * HOUR);
    const error = await developer.mergePatch(fluxSystem as never, { spec: { suspend: false } }).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 403 });
    for (const words of [
      "gate 'flux-system/change-freeze' is closed",
      `Gate scheduled for opening at ${until}`,
      'kubectl -n flux-system annotate --overwrite gate/change-freeze open.gate.fluxcd.io/requestedAt=',
    ]) {
      expect(error.message).toContain(words);
    }
    expect(await admin.find(ref('gate', 'flux-system', 'change-freeze'))).toBeDefined();
  });
});
