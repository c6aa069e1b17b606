/** A real OCI registry (distribution v3, pinned in ../binaries/goModules.ts) on loopback, with a password. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCEPT } from '../../../server/registry/releaseMetadata.ts';
import { provideGoBinary } from '../binaries/goBinary.ts';
import { startChild } from '../process/childProcess.ts';
import type { Log } from '../process/log.ts';
import { freePort } from '../process/ports.ts';
import { temporaryDirectory } from '../process/temporaryDirectory.ts';

export const USER = 'jo';
export const PASSWORD = 's3cret:with:colons';
/** bcrypt of PASSWORD. */
const HTPASSWD = `${USER}:$2a$04$lBVqg9C9Mbq02mYb3Ka1sOmssliXqoQy/Ngdziene7gpURb6.tl.y\n`;
const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

/** Builds the registry if the cache lacks it. Resolves to the binary's path. */
export const provideRegistry = (log?: Log): Promise<string> =>
  provideGoBinary('registry', { program: 'cmd/registry', log });

/** Starts the registry, built if the cache lacks it. */
export async function startRealRegistry(log?: Log) {
  const command = await provideRegistry(log);
  const { path: dir, remove } = temporaryDirectory('registry-');
  const host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(dir, 'htpasswd'), HTPASSWD);
  writeFileSync(
    join(dir, 'config.yaml'),
    JSON.stringify({
      version: 0.1,
      log: { level: 'warn' },
      storage: { inmemory: {} },
      http: { addr: host, secret: 'for-tests' },
      auth: { htpasswd: { realm: 'test', path: join(dir, 'htpasswd') } },
    }),
  );
  const child = await startChild({
    name: 'registry',
    command,
    args: ['serve', join(dir, 'config.yaml')],
    dir,
    env: { OTEL_TRACES_EXPORTER: 'none' },
    ready: async () => (await fetch(`http://${host}/v2/`)).status === 401,
  });

  async function put(path: string, type: string, body: string | Uint8Array): Promise<void> {
    const headers = { authorization: AUTHORIZATION, 'content-type': type };
    const response = await fetch(new URL(path, `http://${host}`), {
      method: 'PUT',
      headers,
      body: body as Uint8Array<ArrayBuffer> | string,
    });
    if (response.status !== 201) throw new Error(`PUT ${path}: ${response.status} ${await response.text()}`);
  }

  const get = (path: string) =>
    fetch(new URL(path, `http://${host}`), { headers: { authorization: AUTHORIZATION, accept: ACCEPT } });

  return {
    /** `127.0.0.1:port`, plain HTTP. */
    host,
    /** Pushes a manifest under a tag. Resolves to its digest. */
    async push(repository: string, tag: string, manifest: object) {
      const body = JSON.stringify(manifest);
      await put(`/v2/${repository}/manifests/${tag}`, (manifest as { mediaType: string }).mediaType, body);
      return digestOf(body);
    },
    async pushBlob(repository: string, content: string | Uint8Array) {
      const digest = digestOf(content);
      const start = await fetch(`http://${host}/v2/${repository}/blobs/uploads/`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION },
      });
      const upload = new URL(start.headers.get('location') ?? '', `http://${host}`);
      upload.searchParams.set('digest', digest);
      await put(upload.href, 'application/octet-stream', content);
      return { digest, size: Buffer.byteLength(content) };
    },
    /** The manifest; undefined if there is none. */
    async pull(repository: string, reference: string) {
      const response = await get(`/v2/${repository}/manifests/${reference}`);
      if (response.status === 404) return undefined;
      const text = await response.text();
      return { digest: digestOf(text), text };
    },
    async pullBlob(repository: string, digest: string) {
      return (await get(`/v2/${repository}/blobs/${digest}`)).text();
    },
    /** The tags; none without such a repository. */
    async tags(repository: string) {
      const { tags } = (await (await get(`/v2/${repository}/tags/list`)).json()) as { tags?: string[] | null };
      return tags ?? [];
    },
    async stop() {
      await child.stop();
      remove();
    },
  };
}

export type RealRegistry = Awaited<ReturnType<typeof startRealRegistry>>;

function digestOf(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
