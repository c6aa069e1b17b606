/** Limits of the open connections of a port. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { createFairShare, type Part } from './fairShare.ts';
import { SERVER_LIMITS } from './serverLimits.ts';

export interface ConnectionLimits {
  maxConnections: number;
  /** Connections of one remote address; absent: maxConnections. */
  maxPerAddress?: number;
}

/**
 * The time after which a connection is closed if its client doesn't read the answer. Clients wait less for an answer.
 */
const ANSWER_MS = 15_000;

interface Connection extends Part {
  /** The newest request that waits for its answer. */
  request?: IncomingMessage;
  waiting: number;
  requestedAt: number;
}

/**
 * Enforces the limits. When one is reached, a new connection replaces an idle one of the address with the most
 * connections.
 */
export function limitConnections(
  server: Server | HttpsServer,
  { maxConnections, maxPerAddress }: ConnectionLimits,
): void {
  const share = createFairShare(maxConnections, maxPerAddress);
  // Keyed by the address of the TCP socket, not the TLS socket of a request, because a peer may never end its
  // handshake.
  const connections = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket;
    // The connection is closed already.
    if (address === undefined) return void socket.destroy();
    const key = keyOf(socket);
    const connection: Connection = {
      address,
      waiting: 0,
      requestedAt: 0,
      mayGiveWay: () => !connection.request?.complete || performance.now() - connection.requestedAt > ANSWER_MS,
      giveWay: () => void socket.destroy(),
    };
    if (!share.grow(connection, 1)) return void socket.destroy();
    connections.set(key, connection);
    socket.once('close', () => {
      share.remove(connection);
      if (connections.get(key) === connection) connections.delete(key);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(keyOf(request.socket));
    if (!connection) return;
    connection.waiting++;
    if (connection.waiting > SERVER_LIMITS.requestsOfConnection) return void request.socket.destroy();
    connection.request = request;
    connection.requestedAt = performance.now();
    response.once('close', () => {
      connection.waiting--;
      if (connection.request !== request) return;
      delete connection.request;
      share.renew(connection);
    });
  });
}

const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
