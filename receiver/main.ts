/** Composition root of the receiver's thread, with a clock, sockets and connections to the API server of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { createAccessReviewer, createTokenReviewer } from '../server/cluster/access.ts';
import { createReader } from '../server/cluster/clusterReader.ts';
import { createGateWriter } from '../server/cluster/gateWriter.ts';
import { createTransport, loadKubeConfig } from '../server/cluster/transport.ts';
import { type Listener, listenHttp, listenHttps } from '../server/http/listen.ts';
import {
  batchedMetrics,
  type ReceiverMessage,
  type ReceiverOptions,
  type ReceiverOrder,
} from '../server/http/receiverThread.ts';
import { SERVER_LIMITS } from '../server/http/serverLimits.ts';
import { createLog } from '../server/log.ts';
import { createIdTokenVerifier } from '../server/oidc/verifier.ts';
import { createReceiver } from './index.ts';
import { createInputs } from './inputs.ts';

const SOCKETS = 16;

/** Sockets reserved for inputs, so that their callers can't keep a signed call waiting. */
const INPUTS_SOCKETS = 8;

const { host, port, inputs, oidcIssuers, logLevel, logLevelFile } = workerData as ReceiverOptions;
const log = createLog(logLevel, logLevelFile);
const kubeConfig = loadKubeConfig();
const transport = createTransport(kubeConfig, { maxSockets: SOCKETS });
const shared = {
  metrics: batchedMetrics((message) => parentPort!.postMessage(message)),
  now: Date.now,
  log,
};
const receiver = createReceiver({
  ...shared,
  cluster: createReader(transport),
  writer: createGateWriter(transport),
  idTokens: createIdTokenVerifier({ clock: () => performance.now() }),
  oidcIssuers,
});
const maxConnections = SERVER_LIMITS.receiverConnections;
const listener = await listenHttp(receiver, { host, port, maxConnections });
const listeners: Listener[] = [listener];
const transports = [transport];
if (inputs) {
  const own = createTransport(kubeConfig, { maxSockets: INPUTS_SOCKETS });
  const app = createInputs({
    ...shared,
    cluster: createReader(own),
    tokens: createTokenReviewer(own),
    access: createAccessReviewer(own),
  });
  listeners.push(await listenHttps(app, inputs.tls, { host, port: inputs.port, maxConnections, log }));
  transports.push(own);
}

parentPort!.on('message', async (order: ReceiverOrder) => {
  for (const each of listeners) each.drain();
  if (order === 'drain') return;
  await Promise.all(listeners.map((each) => each.close()));
  for (const each of transports) each.close();
  log.flush();
  process.exit(0);
});
parentPort!.postMessage({ port: listener.port } satisfies ReceiverMessage);
