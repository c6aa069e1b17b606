/** `node dev/preview/preview.ts`: the page with applications in every state, to work on how it looks. */
import { settleEveryState } from '../local/demo/neighbours.ts';
import { parseOptions, readCommandLine } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';

const HELP = `Usage: node dev/preview/preview.ts

Serves the page on a cluster of its own, with applications in every state. Prints the address, and runs until Ctrl-C.

  --help  this text
`;

readCommandLine(HELP, (args) => parseOptions({ args }));
process.exit(
  await onTemporaryCluster({ prefix: 'rollout-hooks-page-' }, async (cluster, interrupt) => {
    await settleEveryState(cluster.accessOf);
    const page = await servePageOn(cluster.kubeconfigOf('admin'), await buildPage());
    process.stdout.write(`${page.address}\n`);
    await Promise.race([interrupt, cluster.died]);
    await page.close();
    return 0;
  }),
);
