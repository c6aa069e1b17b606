/** The image of the Dockerfile, run in isolation like in the Deployment and in copy Jobs. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyJob } from '../../core/releaseCopy/job.ts';
import { type Container, containerProblem, startContainer } from '../../dev/image/container.ts';
import { buildImageTree, type ImageTree } from '../../dev/image/imageTree.ts';
import { freePort } from '../../dev/local/process/ports.ts';
import { PASSWORD, USER } from '../../dev/local/registry/realRegistry.ts';
import { REPOSITORY } from '../../dev/repository.ts';
import { kustomization, ref, rollout, rolloutGate, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';
import { substitutes, variablesArrive } from '../cluster/support/versions.ts';
import { mountedLogin } from '../copy/command.ts';
import { objectIn } from '../manifests/files.ts';
import { ask } from '../server/program.ts';
import { twoRegistries } from '../support/registries.ts';

const { spec: pod } = objectIn('app/deployment.yaml').spec.template;
const [{ env, ports, ...deployed }] = pod.containers;
const portOf = (name: string): number => ports.find((port: { name: string }) => port.name === name).containerPort;
/** Port of manifests/components/resource-set-inputs. */
const INPUTS_PORT = 9443;
const bytesBelow = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

const ORDER = { tag: '1.0.0', source: { image: 'a/b' }, target: { url: 'oci://a/c' } };

/** Runs in the image: checks the kernel's permissions on every file, except those of the container itself. */
const AUDIT = `
  const { accessSync, constants, readdirSync } = require('node:fs');
  const { join } = require('node:path');
  const top = readdirSync('/').filter((name) => name !== 'proc' && name !== 'dev').map((name) => '/' + name);
  const below = (dir) => readdirSync(dir, { recursive: true }).map((name) => join(dir, name));
  const paths = ['/', ...top, ...top.flatMap(below)];
  const isWritable = (path) => {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch (error) {
      if (error.code !== 'EACCES') throw error;
      return false;
    }
  };
  const writable = paths.filter(isWritable);
  console.log(JSON.stringify({ seen: paths.length, writable, uid: process.getuid(), pid: process.pid }));
`;

const problem = containerProblem();
// Our workflow requires it; a machine without these rights skips the test.
const isSkipped = problem !== undefined && process.env.CONTAINERS !== 'true';

let dir: string;
let image: ImageTree;
// The first one on a machine installs the packages.
beforeAll(async () => {
  if (isSkipped) return;
  dir = mkdtempSync(join(tmpdir(), 'image-'));
  image = await buildImageTree(dir);
}, 600_000);
afterAll(() => dir && rmSync(dir, { recursive: true, force: true }));

describe.skipIf(isSkipped)(`the image${isSkipped ? ` (${problem})` : ''}`, () => {
  it('runs as the user, and on the ports, that Deployment and Jobs expect', () => {
    const { runAsUser, runAsGroup } = pod.securityContext;
    expect(image.user).toBe(`${runAsUser}:${runAsGroup}`);
    const deployedPorts = ports.map(({ containerPort }: { containerPort: number }) => containerPort);
    expect(new Set(image.ports)).toEqual(new Set([...deployedPorts, INPUTS_PORT]));
    const job = copyJob({ rollout: { namespace: 'n', name: 'app' }, image: 'i', ...ORDER }).spec.template.spec;
    expect(`${job.securityContext.runAsUser}:${job.securityContext.runAsGroup}`).toBe(image.user);
  });

  it('has the packages of the lock file that are not for development, and no other', () => {
    const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'));
    const wanted = Object.entries<{ dev?: boolean; optional?: boolean }>(packages)
      .filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
      .map(([path]) => path);
    const { packages: found } = JSON.parse(
      readFileSync(join(image.root, 'app/node_modules/.package-lock.json'), 'utf8'),
    );
    expect(Object.keys(found).sort()).toEqual(wanted.sort());
  });

  it('has at most 50 MB besides Node and Debian', () => {
    const megabytes = (path: string) => bytesBelow(join(image.root, path)) / 1_000_000;
    expect(megabytes('app')).toBeLessThan(50);
    expect(megabytes('app/node_modules')).toBeGreaterThan(10);
  });

  it('has no file or folder that its user may write, even on a writable file system', async () => {
    const container = startContainer(image, { command: ['node', '-e', AUDIT], readOnly: false });
    expect(await container.exited, container.stderr()).toBe(0);
    const { seen, writable, uid, pid } = JSON.parse(container.stdout());
    expect({ writable, uid, pid }).toEqual({ writable: [], uid: 65532, pid: 1 });
    expect(seen).toBeGreaterThan(1000);
  });

  describe('as the Deployment runs it', () => {
    const set = Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]));
    let cluster: TestCluster;
    let server: Container;
    const here: Record<string, number> = {};
    beforeAll(async () => {
      for (const { name } of ports) here[name] = await freePort();
      cluster = await startTestCluster({
        serveHooks: async () => ({ hooksPort: here.hooks!, webhookPort: here.webhook! }),
      });
      const { url, ca, token } = cluster.accessOf('hooks');
      const file = (name: string, text: string) => {
        const path = join(dir, name);
        // The Pod's fsGroup may read them.
        writeFileSync(path, text, { mode: 0o644 });
        return path;
      };
      const account = '/var/run/secrets/kubernetes.io/serviceaccount';
      server = startContainer(image, {
        env: {
          ...set,
          HOOKS_PORT: `${here.hooks}`,
          WEBHOOK_PORT: `${here.webhook}`,
          HEALTH_PORT: `${here.health}`,
          RECEIVER_PORT: `${here.receiver}`,
          KUBERNETES_SERVICE_HOST: new URL(url).hostname,
          KUBERNETES_SERVICE_PORT: new URL(url).port,
          HOSTNAME: 'rollout-hooks-0',
        },
        mounts: {
          [set.WEBHOOK_TLS_CERT!]: file('tls.crt', readFileSync(join(cluster.dir, 'pki/webhook.crt'), 'utf8')),
          [set.WEBHOOK_TLS_KEY!]: file('tls.key', readFileSync(join(cluster.dir, 'pki/webhook.key'), 'utf8')),
          [`${account}/token`]: file('token', token!),
          [`${account}/ca.crt`]: file('ca.crt', ca),
          [`${account}/namespace`]: file('namespace', 'rollout-hooks'),
        },
      });
    });
    afterAll(async () => {
      server?.kill('SIGKILL');
      await Promise.all([server?.exited, cluster?.dispose()]);
    });

    it.each(['startupProbe', 'readinessProbe', 'livenessProbe'])('its %s is answered', async (probe: string) => {
      const { httpGet, failureThreshold = 3, periodSeconds } = deployed[probe];
      const { path, port, scheme } = httpGet;
      expect(set[`${port.toUpperCase()}_PORT`]).toBe(`${portOf(port)}`);
      await waitFor(
        async () => {
          const status =
            scheme === 'HTTPS'
              ? (await ask({ port: here[port]!, path, ca: cluster.accessOf('hooks').ca })).status
              : (await fetch(`http://127.0.0.1:${here[port]}${path}`)).status;
          return status === 200;
        },
        `${probe} to succeed`,
        failureThreshold * periodSeconds * 1000,
      );
    });

    it('takes a version through a RolloutGate into a Kustomization, and holds it there', async () => {
      const { admin, developer, newNamespace, publish } = viewCluster(cluster);
      const ns = await newNamespace();
      await developer.create(rollout(ns, 'app'));
      await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
      await publish(ns, 'app', '1.0.0');
      await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
      await admin.create(rolloutGate(ns, 'qa', 'app', { passing: false }));
      await publish(ns, 'app', '1.1.0');
      const mine = { spec: { postBuild: { substitute: { APP_VERSION: '1.1.0' } } } };
      const attempt = developer.mergePatch(ref('kustomization', ns, 'app'), mine);
      await expect(attempt).rejects.toMatchObject({ code: 403 });
      expect((await substitutes(admin, ns, 'app')).APP_VERSION).toBe('1.0.0');
      await admin.mergePatch(ref('rolloutGate', ns, 'qa'), { spec: { passing: true } });
      await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.1.0' });
    });

    it('answers signed calls, and refuses others', async () => {
      const { status } = await fetch(`http://127.0.0.1:${here.receiver}/hook/none`, { method: 'POST', body: '{}' });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    });

    it('ends on SIGTERM, as process 1, within its Pod’s grace period', async () => {
      server.kill('SIGTERM');
      const kubelet = setTimeout(() => server.kill('SIGKILL'), pod.terminationGracePeriodSeconds * 1000);
      expect(await server.exited).toBe(0);
      clearTimeout(kubelet);
      expect(server.stderr() + server.stdout()).toContain('shutting down');
    });
  });

  it('serves the page, as the component ui runs it', async () => {
    const [{ command, env: own }] = objectIn('components/ui/deployment.yaml').spec.template.spec.containers;
    const settings = Object.fromEntries(own.map(({ name, value }: { name: string; value: string }) => [name, value]));
    const port = await freePort();
    const key = join(dir, 'cookie-key');
    writeFileSync(key, 'a'.repeat(64), { mode: 0o644 });
    // The Secret is optional: without it, the kubelet mounts an empty folder.
    const noClusters = mkdtempSync(join(dir, 'clusters-'));
    chmodSync(noClusters, 0o755);
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    const page = startContainer(image, {
      command,
      env: {
        ...settings,
        UI_PORT: `${port}`,
        SHUTDOWN_DELAY_SECONDS: '0',
        UI_ORIGIN: `http://localhost:${port}`,
        UI_OIDC_ISSUER: 'https://issuer.example.com',
        UI_OIDC_CLIENT_ID: 'rollouts',
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: '1',
      },
      mounts: {
        [settings.UI_CLUSTERS]: noClusters,
        [settings.UI_COOKIE_KEY_FILE]: key,
        [`${account}/token`]: key,
        [`${account}/ca.crt`]: key,
      },
    });
    try {
      const at = `http://localhost:${port}`;
      const isReady = async () => (await fetch(`${at}/readyz`).catch(() => undefined))?.status === 200;
      await waitFor(isReady, 'the page to be ready', 60_000);
      const html = await (await fetch(`${at}/`)).text();
      expect(html).toMatch(/<script type="module" src="\/assets\/main-\w+\.js">/);
    } finally {
      page.kill('SIGTERM');
      await page.exited;
    }
  });

  it('as a Job runs it, copies a release between two registries with passwords', async () => {
    const [source, target] = await twoRegistries();
    const blob = { mediaType: 'application/octet-stream', ...(await source.pushBlob('app', 'content')) };
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const digest = await source.push('app', '1.0.0', { schemaVersion: 2, mediaType, config: blob, layers: [blob] });
    const job = copyJob({
      rollout: { namespace: 'n', name: 'app' },
      image: 'i',
      allowLocalRegistries: true,
      tag: '1.0.0',
      source: { image: `${source.host}/app`, insecure: true, secret: 'from' },
      target: { url: `oci://${target.host}/prod`, insecure: true, secret: 'to' },
    });
    const [{ command, args, env, volumeMounts }] = job.spec.template.spec.containers;
    const logins = [mountedLogin(source.host, USER, PASSWORD), mountedLogin(target.host, USER, PASSWORD)];
    // As with the Pod's fsGroup.
    for (const login of logins) chmodSync(login, 0o755);
    const folders = volumeMounts.map(({ mountPath }: { mountPath: string }, i: number) => [mountPath, logins[i]]);
    const log = join(dir, 'termination-log');
    writeFileSync(log, '');
    chmodSync(log, 0o666);
    const mounts = { ...Object.fromEntries(folders), '/dev/termination-log': log };
    const container = startContainer(image, {
      command,
      args,
      env: Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value])),
      mounts,
    });
    expect(await container.exited, container.stderr()).toBe(0);
    expect(JSON.parse(container.stdout())).toMatchObject({ outcome: 'Copied', digest });
    expect(readFileSync(log, 'utf8')).toBe(container.stdout());
    expect((await target.pull('prod', '1.0.0'))?.digest).toBe(digest);
  });
});
