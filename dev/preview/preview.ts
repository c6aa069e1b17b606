/** `node dev/preview/preview.ts`: the page with a made-up fleet, to work on how it looks. */
import { onTemporaryCluster } from '../local/temporaryCluster.ts';
import { buildPage } from '../page/buildPage.ts';
import { servePageOn } from '../page/serveWith.ts';
import { fleet } from './fleet.ts';
import { storeFleet } from './storeFleet.ts';

const HELP = `Usage: node dev/preview/preview.ts [COUNT]

Serves the page on a cluster of its own with COUNT applications (40) in every state there is. No hooks run, so that each stays as it is.
`;

const [argument = '40'] = process.argv.slice(2);
if (!/^\d{1,5}$/.test(argument)) {
  process.stdout.write(HELP);
  process.exit(argument === '--help' ? 0 : 1);
}
process.exit(
  await onTemporaryCluster({ prefix: 'rollout-hooks-page-', hooks: false }, async (cluster, interrupt) => {
    await storeFleet(cluster.accessOf('admin'), fleet(Number(argument), Date.now()));
    const page = await servePageOn(cluster.kubeconfigOf('admin'), await buildPage());
    process.stdout.write(`${page.address}\n`);
    await Promise.race([interrupt, cluster.died]);
    await page.close();
    return 0;
  }),
);
