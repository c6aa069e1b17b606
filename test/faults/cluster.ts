/**
 * The control plane of faults.test.ts. Its hook server takes calls from outside and notifies a notification-controller.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../dev/local/process/ports.ts';
import { playNotificationController } from '../cluster/support/notificationController.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { startIssuer } from '../server/oidc/issuer.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

export const issuer = await startIssuer();
export const controller = await playNotificationController();
export const receiverPort = await freePort();
export const inputsPort = await freePort();

const issuerCa = join(temporaryFolder('issuer-'), 'ca.crt');
writeFileSync(issuerCa, issuer.ca);
export const { cluster, view } = await ownCluster({
  hookEnv: {
    RECEIVER_PORT: String(receiverPort),
    INPUTS_PORT: String(inputsPort),
    OIDC_ISSUERS: issuer.url,
    NODE_EXTRA_CA_CERTS: issuerCa,
    EVENTS_ADDR: controller.address,
  },
});

/** Resolves when the process is gone. */
export async function kill(process: 'driver' | 'hooks'): Promise<void> {
  const child = cluster[process]();
  child?.kill('SIGKILL');
  await child?.exited;
}

/** Without receiver and inputs, whose thread costs as much to start as everything else. */
export async function startHooks(): Promise<void> {
  await cluster.startHooks({ EVENTS_ADDR: controller.address });
}
