/** The cluster network for the API server, which connects to a Service through this proxy, on loopback. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';

export interface Network {
  /** Flags of the API server. */
  flags: string[];
  /** The address of the Pod behind the webhooks' Service; undefined without a ready Pod. */
  webhookPort: number | undefined;
  close(): void;
}

/** @param dir a short path: paths of sockets have a hundred characters at most */
export async function startNetwork(dir: string): Promise<Network> {
  const socketFile = join(dir, 'net.sock');
  const config = join(dir, 'egress.yaml');
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socketFile } } };
  const selector = { apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' };
  writeFileSync(config, stringify({ ...selector, egressSelections: [{ name: 'cluster', connection }] }));

  const open = new Set<Socket>();
  const network: Network = {
    flags: [`--egress-selector-config-file=${config}`],
    webhookPort: undefined,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
  const server = createServer().on('connect', (_request, client: Socket, head: Buffer) => {
    if (network.webhookPort === undefined) return client.end('HTTP/1.1 503 No Endpoints\r\n\r\n');
    const pod = connect(network.webhookPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      pod.write(head);
      pod.pipe(client).pipe(pod);
    });
    for (const socket of [client, pod]) open.add(socket.on('error', () => [client, pod].map((each) => each.destroy())));
  });
  await new Promise<void>((listening) => server.listen(socketFile, listening));
  return network;
}
