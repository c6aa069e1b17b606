/** Checks before `up` serves an existing cluster. Each throws a Problem if it fails. */
import { setTimeout as wait } from 'node:timers/promises';
import { ROLLOUT_NAME_LABEL } from '../../../api/annotations.ts';
import { type Access, readKubeconfig } from '../../client/kubeconfig.ts';
import { pathOf } from '../../client/resources.ts';
import { type AnyObject, ApiError, send } from '../../client/send.ts';
import { CONTROLLER_KINDS, MANAGED_BY, WEBHOOK_KINDS } from '../install/install.ts';
import { isFree } from '../process/ports.ts';
import { Problem } from '../process/problem.ts';

const INSTALL = 'install into it as docs/install.md says';

/** Reads the kubeconfig's current context and makes sure that its user is cluster admin. */
export async function requireAdmin(file: string): Promise<Access> {
  const access = readAccess(file);
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const { object } = await send(access, 'POST', path, { body: review, timeoutMs: 10_000 }).catch((error: Error) => {
    const why = error.message || (error as NodeJS.ErrnoException).code;
    throw new Problem(`The API server of ${file}, ${access.url}, does not let this user in (${why}): check both.`);
  });
  if (object.status?.allowed) return access;
  throw new Problem(
    `The user of ${file} is not cluster admin: give a kubeconfig whose user is, since kinds, rights and webhooks are installed with it.`,
  );
}

function readAccess(file: string): Access {
  try {
    return readKubeconfig(file);
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    throw new Problem(`${file} cannot be used as a kubeconfig (${why}): give another one with --kubeconfig.`);
  }
}

/**
 * Refuses a cluster with rollout-hooks, another running `up`, or another Metacontroller. Leftovers of a killed `up` are
 * fine.
 */
export async function requireFree(admin: Access): Promise<void> {
  for (const configuration of await listAll(admin, 'admissionregistration.k8s.io/v1', WEBHOOK_KINDS)) {
    for (const { name, clientConfig } of configuration.webhooks ?? []) {
      if (!name.endsWith('.admission.kuberik.com')) continue;
      const { hostname, port } = new URL(clientConfig.url ?? 'https://service');
      const which = `${configuration.kind} ${configuration.metadata.name}`;
      if (hostname !== '127.0.0.1') {
        throw new Problem(
          `rollout-hooks is installed in this cluster already (${which}): use that, or remove it first.`,
        );
      }
      if (!(await isFree(Number(port)))) {
        throw new Problem(`another \`npm run up\` serves this cluster (${which}, port ${port}): stop that one first.`);
      }
    }
  }
  const controllers = await listAll(admin, 'metacontroller.k8s.io/v1alpha1', CONTROLLER_KINDS);
  const foreign = controllers.find(({ metadata }) => !isOurs(metadata.labels));
  if (!foreign) return;
  const which = `${foreign.kind} ${foreign.metadata.name}`;
  throw new Problem(
    `This cluster has a Metacontroller that drives ${which}, so the hooks would be driven twice: ${INSTALL}.`,
  );
}

const isOurs = (labels: Record<string, string> = {}) =>
  Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);

async function listAll(admin: Access, apiVersion: string, kinds: string[]): Promise<AnyObject[]> {
  const group = await send(admin, 'GET', `/apis/${apiVersion}`).catch((error) => {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  });
  if (!group) return [];
  const lists = kinds.map(async (kind) => {
    const path = await pathOf(admin, { apiVersion, kind, metadata: {} });
    const { object } = await send<{ items: AnyObject[] }>(admin, 'GET', path);
    return object.items.map((item) => ({ ...item, kind }));
  });
  return (await Promise.all(lists)).flat();
}

/** A RolloutGate gets a label from the webhook: a dry run shows whether the API server called it. */
const PROBE = {
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'RolloutGate',
  metadata: { name: 'up-asks-the-webhook', namespace: 'rollout-hooks' },
  spec: { rolloutRef: { name: 'none' } },
};

/**
 * Checks that the API server reaches the installed webhooks, with retries, since it reads webhook configurations a
 * moment later.
 */
export async function requireReach(admin: Access, patienceMs = 10_000): Promise<void> {
  const path = await pathOf(admin, { ...PROBE, metadata: { namespace: PROBE.metadata.namespace } });
  const deadline = performance.now() + patienceMs;
  let why = 'it does not call the webhook';
  do {
    try {
      const { object } = await send(admin, 'POST', path, { body: PROBE, query: { dryRun: 'All' } });
      if (object.metadata.labels?.[ROLLOUT_NAME_LABEL]) return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      why = error.message;
    }
    await wait(100);
  } while (performance.now() < deadline);
  throw new Problem(
    `The API server at ${admin.url} cannot reach the webhook on this machine's loopback: use --kubeconfig with an API server on this same machine, outside of any container, or ${INSTALL}.`,
    [why],
  );
}
