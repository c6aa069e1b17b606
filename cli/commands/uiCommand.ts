import { randomBytes } from 'node:crypto';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import type { KubeClient } from '../../connection/kube/kubeClient.ts';
import { type Assets, typeOf } from '../../page/assets.ts';
import { openPage } from '../../page/local.ts';
import type { CommandDefinition } from '../command/command.ts';
import { CONTEXTS } from '../command/options.ts';
import { ownFile, ownFiles } from '../files.ts';
import { openBrowser } from '../terminal/openBrowser.ts';

const MAX_PORT = 65_535;

export const ui: CommandDefinition = {
  description: `Serves a live page on this machine and opens it: applications, Gates on a calendar, and promotion.

The page has the rights of your kubeconfig. The browser gets no credentials, and only the data that the page needs.
The address has a key that is new each time. Do not share it: it gives your permissions to everyone who has it.
With several --context it shows all these clusters, with the rights that you have in each. A cluster that does not answer does not delay the others.
Ctrl-C stops the page.`,
  options: [
    CONTEXTS,
    { flags: '--port <number>', help: 'port on 127.0.0.1; a free one when absent' },
    { flags: '--no-open', help: 'print the address and open no browser' },
  ],
  examples: [
    ['all namespaces', 'ui'],
    ['one namespace, if you may read no other', 'ui -n shop'],
    ['two clusters', 'ui --context staging --context production'],
    ['on another machine, through ssh -L 8080:localhost:8080', 'ui --no-open --port 8080'],
  ],
  async run(context, { options }) {
    const port = portOf(options.port as string | undefined);
    const assets = readAssets();
    if (assets.size === 0) throw new Problem('The page is not built: run npm run build:cli first.', EXIT.error);
    const pageOf = async ({ client, selected, namespace }: Cluster) => {
      const user = (await whoAmI(client)) ?? selected.user;
      return {
        client,
        hello: { context: selected.context, server: selected.server, user },
        namespace: context.flags.namespace,
        fallback: namespace,
        now: context.now,
      };
    };
    const clusters = await Promise.all((await context.clusters()).map(pageOf));
    const token = randomBytes(24).toString('base64url');
    const page = await openPage(clusters, { assets, token, port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new Problem(`Port ${port} is taken: choose another one with --port.`, EXIT.error);
      throw error;
    });
    context.terminal.print(page.address);
    context.terminal.note('Anyone with this address has your permissions. Ctrl-C stops the page.');
    if (options.open !== false) openBrowser(page.address);
    await new Promise<void>((resolve) => {
      if (context.signal.aborted) resolve();
      context.signal.addEventListener('abort', () => resolve());
    });
    await page.close();
    return EXIT.ok;
  },
};

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= MAX_PORT) return port;
  throw new Problem(`--port: '${text}' is not a port from 1 to ${MAX_PORT}.`, EXIT.usage);
}

/** The files of the page, made by `npm run build:cli`, by their path. */
function readAssets(): Assets {
  return new Map(
    ownFiles('page').map((file) => {
      const path = file.slice('page'.length);
      return [path, { type: typeOf(path), bytes: ownFile(file)! }] as const;
    }),
  );
}

const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

/** The authenticated user, by SelfSubjectReview; undefined if the API server is too old or does not answer. */
export async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const to = { apiVersion: REVIEW.apiVersion, resource: 'selfsubjectreviews' };
  type Review = { status?: { userInfo?: { username?: string } } };
  const answer = await client.create<Review>(to, REVIEW).catch(() => undefined);
  return answer?.object.status?.userInfo?.username;
}
