import { request } from 'node:https';
import { join } from 'node:path';
import { PRODUCT } from '../../repository.ts';
import { USERS } from '../controlPlane/users.ts';
import { WEBHOOK_CLIENT_NAME } from '../controlPlane/webhookClient.ts';
import { type RunningChild, startChild } from '../process/childProcess.ts';

export interface HookPorts {
  hooksPort: number;
  webhookPort: number;
}

interface HookServerOptions extends HookPorts {
  dir: string;
  /** Name of the process and its log. */
  name?: string;
  /** Paths of PEM files. */
  certificateFile: string;
  keyFile: string;
  /** PEM. */
  ca: string;
  /** Path of the CA of the API server's client certificate. */
  clientCaFile: string;
  /** Path of the token that the hooks require. */
  hooksTokenFile: string;
  /** Settings of main.ts beside those above, such as ON_FAILURE. */
  env?: Record<string, string>;
}

/** Starts main.ts and waits until hooks and webhook answer. */
export async function startHookServer(options: HookServerOptions): Promise<RunningChild> {
  return startChild({
    name: options.name ?? 'hooks',
    command: process.execPath,
    args: ['main.ts'],
    cwd: PRODUCT,
    dir: options.dir,
    env: {
      HOST: '127.0.0.1',
      HOOKS_PORT: String(options.hooksPort),
      WEBHOOK_PORT: String(options.webhookPort),
      WEBHOOK_TLS_CERT: options.certificateFile,
      WEBHOOK_TLS_KEY: options.keyFile,
      WEBHOOK_CLIENT_CA: options.clientCaFile,
      WEBHOOK_CLIENT_NAMES: WEBHOOK_CLIENT_NAME,
      HOOKS_TOKEN_FILE: options.hooksTokenFile,
      KUBECONFIG: join(options.dir, USERS.hooks.file),
      METACONTROLLER_USER: USERS.metacontroller.userName,
      ...options.env,
    },
    ready: async () => {
      const plain = await fetch(`http://127.0.0.1:${options.hooksPort}/readyz`, { signal: AbortSignal.timeout(2_000) });
      return plain.ok && (await answersOverTls(options.webhookPort, options.ca));
    },
  });
}

function answersOverTls(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: '/readyz', ca, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });
}
