/** The server as a process, with an API server that the test provides. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type Agent, type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import type { KubeObject } from '../../api/kubernetes.ts';
import { requestOf } from '../../dev/fakes/requests.ts';
import { createAuthority } from '../../dev/local/controlPlane/certificates.ts';
import { kubeconfigOf } from '../../dev/local/controlPlane/users.ts';
import { freePort } from '../../dev/local/process/ports.ts';
import { atEnd } from '../support/atEnd.ts';
import { startLocalServer } from '../support/localServer.ts';
import { objectOf } from '../support/objects.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Program {
  process: ChildProcess;
  hooksPort: number;
  webhookPort: number;
  receiverPort: number;
  inputsPort: number;
  healthPort: number;
  /** PEM. */
  ca: string;
  /** Everything it has logged. */
  log(): string;
  exited: Promise<number | null>;
}

interface ServerSetup {
  dir: string;
  /** `receiver`: with receiver and inputs, whose thread costs as much to start as everything else. */
  start(env?: Record<string, string>, options?: { receiver: boolean }): Promise<Program>;
}

export const answersNothing: RequestListener = (_request, response) => void response.writeHead(404).end('{}');

/** Await it at the top of the file: it ends after the file's last test. `apiServer` answers the programs' requests. */
export async function createServerSetup(apiServer = answersNothing): Promise<ServerSetup> {
  const dir = temporaryFolder('rollout-hooks-');
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await authority.issue('rollout-hooks');
  writeFileSync(join(dir, 'tls.crt'), certificate);
  writeFileSync(join(dir, 'tls.key'), key);
  const api = await startLocalServer(apiServer, { cert: certificate, key });
  const access = { url: `https://${api.host}`, ca: authority.certificate, token: 't' };
  writeFileSync(join(dir, 'kubeconfig'), kubeconfigOf('u', access));
  const programs: Program[] = [];
  atEnd(() => {
    for (const { process: child } of programs) child.kill('SIGKILL');
    return Promise.all(programs.map(({ exited }) => exited));
  });

  return {
    dir,
    async start(env = {}, { receiver } = { receiver: false }) {
      const [hooksPort, webhookPort, receiverPort] = [await freePort(), await freePort(), await freePort()];
      const [inputsPort, healthPort] = [await freePort(), await freePort()];
      const child = spawn(process.execPath, [join(ROOT, 'main.ts')], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          KUBECONFIG: join(dir, 'kubeconfig'),
          HOST: '127.0.0.1',
          HOOKS_PORT: `${hooksPort}`,
          WEBHOOK_PORT: `${webhookPort}`,
          ...(receiver && { RECEIVER_PORT: `${receiverPort}`, INPUTS_PORT: `${inputsPort}` }),
          HEALTH_PORT: `${healthPort}`,
          WEBHOOK_TLS_CERT: join(dir, 'tls.crt'),
          WEBHOOK_TLS_KEY: join(dir, 'tls.key'),
          ...env,
        },
      });
      let text = '';
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
      const program: Program = {
        process: child,
        hooksPort,
        webhookPort,
        receiverPort,
        inputsPort,
        healthPort,
        ca: authority.certificate,
        log: () => text,
        exited,
      };
      programs.push(program);
      await new Promise<void>((resolve, reject) => {
        child.stderr.on('data', (chunk) => {
          text += chunk;
          if (text.includes('"serving"')) resolve();
        });
        child.once('exit', () => reject(new Error(text)));
      });
      return program;
    },
  };
}

export const reviewOf = (object: KubeObject<any, any>) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: requestOf({ object }),
});

/** An admission review of a Gate that needs no reads from the API server. */
export const REVIEW = JSON.stringify(
  reviewOf(
    objectOf('Gate', {
      metadata: { name: 'freeze', namespace: 'platform' },
      spec: { default: 'closed', window: '1h' },
    }),
  ),
);

/** A review of a Kustomization that names a Gate, which the webhook reads from the API server. */
export const fluxReview = () =>
  reviewOf(
    objectOf('Kustomization', {
      metadata: { name: 'app', namespace: 'platform', annotations: { 'gate.fluxcd.io/gates': 'freeze' } },
      spec: { interval: '10m', path: './deploy', prune: true, sourceRef: { kind: 'GitRepository', name: 'app' } },
    }),
  );

export interface Answer {
  status: number;
  text: string;
}

/** Sends a request over TLS. Rejects with the socket's error. */
export function ask(options: RequestOptions & { agent?: Agent | false }, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        ...options,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

/** An admission request to the webhook of `program`. */
export function admit(program: Program, options: RequestOptions & { agent?: Agent | false } = {}): Promise<Answer> {
  return ask({ port: program.webhookPort, path: '/admission/mutate/gate', ca: program.ca, ...options }, REVIEW);
}
