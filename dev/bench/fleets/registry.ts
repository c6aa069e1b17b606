/** A registry on loopback in which every tag of every repository is the same release: what is known of it is not asked for again. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const MANIFEST = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  annotations: { 'org.opencontainers.image.revision': 'main' },
});

export interface BenchRegistry {
  /** `127.0.0.1:port` */
  host: string;
  close(): void;
}

export async function startBenchRegistry(): Promise<BenchRegistry> {
  const server = createServer((_, response) => response.end(MANIFEST));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
