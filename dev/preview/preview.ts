/** `node dev/preview/preview.ts`: the page with a made-up fleet, to work on how it looks. */
import { numberOf, parseOptions, readCommandLine, UsageError } from '../local/process/options.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { fleet } from './fleet.ts';
import { storeFleet } from './storeFleet.ts';

const HELP = `Usage: node dev/preview/preview.ts [COUNT]

Serves the page on a cluster of its own with COUNT applications (40) in every state. No hooks run, so that states don't change. Prints the
address, and runs until Ctrl-C.

  --help  this text
`;

const count = readCommandLine(HELP, (args) => {
  const [text = '40', more] = parseOptions({ args, allowPositionals: true }).positionals;
  if (more !== undefined) throw new UsageError(`One COUNT is enough: leave out ${more}.`);
  return numberOf('COUNT', text, { least: 0, most: 99_999 });
});
process.exit(
  await onTemporaryCluster({ prefix: 'rollout-hooks-page-', hooks: false }, async (cluster, interrupt) => {
    await storeFleet(cluster.accessOf('admin'), fleet(count, Date.now()));
    const page = await servePageOn(cluster.kubeconfigOf('admin'), await buildPage());
    process.stdout.write(`${page.address}\n`);
    await Promise.race([interrupt, cluster.died]);
    await page.close();
    return 0;
  }),
);
