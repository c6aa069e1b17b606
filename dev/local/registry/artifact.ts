/** OCI artifacts as `flux push artifact` and `helm push` make them: manifests, or a chart. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inTemporaryDirectory } from '../process/temporaryDirectory.ts';
import { PASSWORD, type RealRegistry, USER } from './realRegistry.ts';

const ARTIFACT = {
  config: 'application/vnd.cncf.flux.config.v1+json',
  content: 'application/vnd.cncf.flux.content.v1.tar+gzip',
};
export const CHART = {
  config: 'application/vnd.cncf.helm.config.v1+json',
  content: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
};

/** Pushes files, by name. Resolves to the digest of the manifest. */
export async function pushArtifact(
  registry: RealRegistry,
  repository: string,
  tag: string,
  files: Record<string, string>,
  { config, content } = ARTIFACT,
): Promise<string> {
  const configBlob = await registry.pushBlob(repository, '{}');
  const layer = await registry.pushBlob(repository, await archive(files));
  return registry.push(repository, tag, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: config, ...configBlob },
    layers: [{ mediaType: content, ...layer }],
    annotations: { 'org.opencontainers.image.revision': tag },
  });
}

/** Pushes a chart; `templates`: by name. */
export function pushChart(registry: RealRegistry, name: string, version: string, templates: Record<string, string>) {
  const chart = `apiVersion: v2\nname: ${name}\nversion: ${version}\n`;
  const named = Object.entries(templates).map(([file, text]) => [`${name}/templates/${file}`, text]);
  return pushArtifact(registry, name, version, { [`${name}/Chart.yaml`]: chart, ...Object.fromEntries(named) }, CHART);
}

/** A gzipped tar of the files, by name. */
function archive(files: Record<string, string>): Promise<Uint8Array> {
  return inTemporaryDirectory('artifact-', (folder) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return execFileSync('tar', ['-C', folder, '-cz', ...Object.keys(files)]);
  });
}

/** The Secret with which source-controller reads the registry. */
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
