/**
 * The source of a fleet's applications: a GitRepository whose artifact the bench provides, so that fetching isn't
 * measured.
 */
import { createServer } from 'node:http';
import { conditionAt } from '../../actors/fluxStatus.ts';
import { ref } from '../../actors/objects.ts';
import type { User } from '../../actors/user.ts';
import { listenOnLoopback } from '../../local/process/ports.ts';

export const SOURCE = { kind: 'GitRepository', name: 'fleet' } as const;
export const REVISION = `main@sha1:${'0'.repeat(40)}`;

/** Creates the GitRepository, suspended, so that a running source-controller ignores it. */
export async function createSource(
  admin: User,
  flux: User,
  namespace: string,
  artifact: { url: string; digest: string },
): Promise<void> {
  const { apiVersion } = ref('ociRepository', undefined, '');
  const source = { apiVersion, kind: SOURCE.kind, metadata: { name: SOURCE.name, namespace } };
  await admin.create({ ...source, spec: { interval: '1h', url: 'https://git.example/fleet', suspend: true } });
  await flux.patchStatus(source, {
    observedGeneration: 1,
    artifact: { ...artifact, revision: REVISION, path: 'fleet/app.tar.gz', lastUpdateTime: '2026-01-02T12:00:00Z' },
    conditions: [conditionAt(Date, 'Ready', 1, 'True', 'Succeeded', 'stored artifact')],
  });
}

/** A server on loopback that answers everything with the same bytes. */
export function serveAlways(body: string | Uint8Array): Promise<{ host: string; close(): void }> {
  return listenOnLoopback(createServer((_, response) => response.end(body)));
}
