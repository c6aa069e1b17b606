/** The stories of the gating RFC, with its own manifests, on the clock of this machine. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AnyObject, ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
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

  it('the SRE closes it ahead of its schedule', async () => {
    const at = timestamp();
    await open('sre-approval', at);
    const until = timestamp(Date.parse(at) + HOUR);
    await saysSoon(
      admin,
      sreApproval!,
      'Opened',
      opened('True', `Gate scheduled for closing at ${until}, opened by sre`),
    );
    await isFree(admin, myApp!);
    const closedAt = timestamp();
    await close('sre-approval', closedAt);
    const gate = await saysSoon(admin, sreApproval!, 'Opened', opened('False', 'Gate close requested, closed by sre'));
    expect(gate.status).toMatchObject({ requestedAt: closedAt, resetToDefaultAt: closedAt, closedBy: 'sre' });
    await saysSoon(admin, myApp!, 'Approved', WAITS);
    await isHeld(admin, myApp!);
  });

  it('all the gates that are in the way are named, not only the first', async () => {
    await close('qa-approval');
    const both = `${WAITS} Reconciliation is waiting approval, gate 'flux-system/qa-approval' is closed.`;
    const waits = await waitFor(async () => {
      const said = conditionText(await read(myApp), 'Approved');
      return said?.includes('qa-approval') && said;
    }, 'the second gate to be named');
    expect([both, both.replace(/(False GateClosed: )(.*sre.*closed\.) (.*)/, '$1$3 $2')]).toContain(waits);
    await open('qa-approval');
    await saysSoon(admin, myApp!, 'Approved', WAITS);
  });
});

describe('Story 1: block deployments in a particular time window', () => {
  const DAY = 24 * HOUR;

  it('a gate that is opened by default is closed for the maintenance window, and opens by itself', async () => {
    await saysSoon(admin, maintenance!, 'Opened', opened('True', 'Gate opened by default'));
    const app = {
      ...myApp!,
      metadata: { ...myApp!.metadata, name: 'maintained', annotations: {} as Record<string, string> },
    };
    app.metadata.annotations = { 'gate.fluxcd.io/gates': 'maintenance' };
    await developer.create(app);
    await saysSoon(admin, app, 'Approved', APPROVED);
    const at = sinceWindowLeft(DAY, seconds(4));
    const until = timestamp(Date.parse(at) + DAY);
    await close('maintenance', at);
    const gate = await saysSoon(
      admin,
      maintenance!,
      'Opened',
      opened('False', `Gate scheduled for opening at ${until}, closed by sre`),
    );
    expect(gate.status).toMatchObject({ requestedAt: at, resetToDefaultAt: until });
    await isHeld(admin, app);
    await saysSoon(admin, maintenance!, 'Opened', opened('True', 'Gate opened by default'));
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
    await isFree(admin, app);
    await saysSoon(admin, app, 'Approved', APPROVED);
  });

  it('and opens early when the maintenance is over', async () => {
    await close('maintenance');
    await waitFor(async () => conditionText(await read(maintenance), 'Opened')?.startsWith('False'), 'the closing');
    const at = timestamp();
    await open('maintenance', at);
    const gate = await saysSoon(admin, maintenance!, 'Opened', opened('True', 'Gate open requested, opened by sre'));
    expect(gate.status).toMatchObject({ requestedAt: at, resetToDefaultAt: at, openedBy: 'sre' });
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
