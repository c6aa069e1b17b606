/** What `flux push artifact` pushes: a folder of manifests as an OCI artifact. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PASSWORD, type RealRegistry, USER } from '../../server/registry/realRegistry.ts';

const CONFIG = 'application/vnd.cncf.flux.config.v1+json';
const CONTENT = 'application/vnd.cncf.flux.content.v1.tar+gzip';

/** `files`: by name. Returns the digest of the manifest. */
export async function pushArtifact(
  registry: RealRegistry,
  repository: string,
  tag: string,
  files: Record<string, string>,
): Promise<string> {
  const config = await registry.pushBlob(repository, '{}');
  const layer = await registry.pushBlob(repository, archive(files));
  return registry.push(repository, tag, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: CONFIG, ...config },
    layers: [{ mediaType: CONTENT, ...layer }],
    annotations: { 'org.opencontainers.image.revision': tag },
  });
}

function archive(files: Record<string, string>): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'artifact-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return execFileSync('tar', ['-C', folder, '-cz', ...Object.keys(files)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The Secret by which source-controller reads the registry. */
export function registrySecret(namespace: string, name: string, { host }: RealRegistry) {
  const auths = { [host]: { username: USER, password: PASSWORD } };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  };
}
