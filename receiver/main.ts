/** Composition root of the receiver's thread: its clock, sockets and connections to the API server are its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { createGateWriter } from '../server/cluster/gateWriter.ts';
import { createReader } from '../server/cluster/reader.ts';
import { withSharedReads } from '../server/cluster/sharedReads.ts';
import { createTransport, loadKubeConfig } from '../server/cluster/transport.ts';
import { SERVER_LIMITS } from '../server/http/limits.ts';
import { listenHttp } from '../server/http/listen.ts';
import {
  batchedMetrics,
  type ReceiverMessage,
  type ReceiverOptions,
  type ReceiverOrder,
} from '../server/http/receiverThread.ts';
import { createLeveledLog } from '../server/logLevel.ts';
import { createIdTokenVerifier } from '../server/oidc/verifier.ts';
import { createReceiver } from './index.ts';

const SOCKETS = 16;

const { host, port, oidcIssuers, logLevel, logLevelFile } = workerData as ReceiverOptions;
const log = createLeveledLog({ level: logLevel, file: logLevelFile });
const transport = createTransport(loadKubeConfig(), { maxSockets: SOCKETS });
const receiver = createReceiver({
  cluster: withSharedReads(createReader(transport)),
  writer: createGateWriter(transport),
  idTokens: createIdTokenVerifier({ clock: () => performance.now() }),
  oidcIssuers,
  metrics: batchedMetrics((message) => parentPort!.postMessage(message)),
  now: Date.now,
  log,
});
const listener = await listenHttp(receiver, { host, port, maxConnections: SERVER_LIMITS.receiverConnections });

parentPort!.on('message', async (order: ReceiverOrder) => {
  listener.drain();
  if (order === 'drain') return;
  await listener.close();
  transport.close();
  log.flush();
  process.exit(0);
});
parentPort!.postMessage({ port: listener.port } satisfies ReceiverMessage);
