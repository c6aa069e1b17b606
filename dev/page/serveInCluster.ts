/**
 * Serves the page in the cluster on a local control plane, with the rights of manifests/components/ui and a local
 * issuer.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { readPageConfig } from '../../page/inCluster/config.ts';
import { serveInCluster } from '../../page/inCluster/serve.ts';
import { createLog } from '../../server/log.ts';
import type { Access } from '../client/kubeconfig.ts';
import { requestToken } from '../local/controlPlane/serviceAccount.ts';
import { kubeconfigOf, USERS } from '../local/controlPlane/users.ts';
import { applyAll } from '../local/install/applyAll.ts';
import { readManifests } from '../local/install/manifests.ts';
import { freePort } from '../local/process/ports.ts';
import { REPOSITORY } from '../repository.ts';
import { buildPage } from './buildPage.ts';
import { CLIENT, startIssuer } from './localIssuer.ts';

/** Users of the local control plane who may sign in; their names are those of its RBAC. */
const ACCOUNTS = Object.fromEntries(
  (['developer', 'sre'] as const).map((name) => [name, { sub: USERS[name].userName }]),
);

export interface TeamPage {
  origin: string;
  issuer: string;
  close(): Promise<void>;
}

/** Serves the page. `dir`: folder for its files. */
export async function servePageInCluster(admin: Access, dir: string): Promise<TeamPage> {
  const folder = join(dir, 'ui');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const port = await freePort();
  // Another host name than the issuer's, so that browsers treat them as two sites.
  const origin = `http://localhost:${port}`;
  const issuer = await startIssuer(ACCOUNTS, `${origin}/signed-in`);
  const config = readPageConfig({
    UI_ORIGIN: origin,
    UI_PORT: `${port}`,
    HOST: '127.0.0.1',
    UI_OIDC_ISSUER: issuer.url,
    UI_OIDC_CLIENT_ID: CLIENT.id,
    UI_OIDC_CLIENT_SECRET_FILE: file('client-secret', CLIENT.secret),
    UI_OIDC_USERNAME_CLAIM: 'sub',
    UI_COOKIE_KEY_FILE: file('cookie-key', randomBytes(32).toString('hex')),
    UI_CLUSTER_NAME: 'local',
  });
  const account = await accountOf(admin);
  const kubeconfig = file('kubeconfig', kubeconfigOf('developer', account));
  const { config: kubeConfig } = selectCluster({ kubeconfig }, {});
  const log = createLog('error');
  const page = await serveInCluster({ config, kubeConfig, assets: await buildPage(), log });
  return {
    origin,
    issuer: issuer.url,
    async close() {
      await page.close();
      issuer.close();
    },
  };
}

/** The ServiceAccount of the component, with the rights in its manifests only. */
async function accountOf(admin: Access): Promise<Access> {
  const objects = readManifests(join(REPOSITORY, 'manifests/components/ui')).filter(({ kind }) =>
    ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'].includes(kind),
  );
  await applyAll(admin, objects);
  const token = await requestToken({ access: admin }, { namespace: 'rollout-hooks', name: 'rollout-hooks-ui' });
  return { url: admin.url, ca: admin.ca, token };
}
