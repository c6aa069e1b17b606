/** kustomize-controller and cert-manager, with the features that manifests/examples/install-with-flux.yaml uses. */
import { join } from 'node:path';
import { kustomizeBuild } from '../../../dev/local/install/kustomize.ts';
import { parseManifests } from '../../../dev/local/install/manifests.ts';
import { repeat } from '../../../dev/local/process/repeat.ts';
import { type AnyObject, type ClusterView, type User, waitFor } from '../../cluster/support/cluster.ts';
import type { Reader } from './reader.ts';

const LOOK_MS = 200;
export const KUSTOMIZATION = 'kustomize.toolkit.fluxcd.io/v1';
const READY = { type: 'Ready', status: 'True', reason: 'ReconciliationSucceeded', message: '' };

const isReady = ({ metadata, status }: AnyObject) =>
  status?.observedGeneration === metadata.generation &&
  status.conditions?.some(({ type, status: value }: AnyObject) => type === 'Ready' && value === 'True');
const requestOf = ({ metadata }: AnyObject) => metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
const first = ({ kind }: AnyObject) => kind === 'CustomResourceDefinition' || kind === 'Namespace';

/** Applies like the real one: as its ServiceAccount, each object first by a dry run, dependencies first. */
async function applyAll(flux: User, objects: AnyObject[]): Promise<void> {
  const options = { manager: 'kustomize-controller', force: true };
  for (const stage of [objects.filter(first), objects.filter((object) => !first(object))]) {
    for (const object of stage) {
      await flux.apply(object, { ...options, dryRun: true });
      await flux.apply(object, options);
    }
    for (const crd of stage.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
      await waitFor(async () => {
        const { conditions = [] } = (await flux.get(crd as any)).status ?? {};
        return conditions.some(({ type, status }: AnyObject) => type === 'Established' && status === 'True');
      }, `${crd.metadata.name} to be served`);
    }
  }
}

async function isAvailable(flux: User, object: AnyObject): Promise<boolean> {
  const { metadata, spec, status } = await flux.get(object as any);
  return status?.observedGeneration === metadata.generation && status.availableReplicas === spec.replicas;
}

/** The objects of a Kustomization, with manifests/ as its artifact. */
export async function objectsOf({ spec }: AnyObject): Promise<AnyObject[]> {
  const folder = join('manifests', spec.path);
  const components = (spec.components ?? []).map((path: string) => join(folder, path));
  return parseManifests(await kustomizeBuild({ resources: [folder], components, images: spec.images ?? [] }));
}

export function startFlux({ flux }: ClusterView): { stop(): Promise<void> } {
  async function reconcile(kustomization: AnyObject, all: AnyObject[]): Promise<void> {
    const { spec, metadata, status } = kustomization;
    if (spec.suspend || (isReady(kustomization) && status.lastHandledReconcileAt === requestOf(kustomization))) return;
    const needed = (spec.dependsOn ?? []).map(({ name }: AnyObject) => all.find((each) => each.metadata.name === name));
    if (!needed.every((each?: AnyObject) => each && isReady(each))) return;
    const { name = '', namespace = '' } = metadata;
    const labels = {
      'kustomize.toolkit.fluxcd.io/name': name,
      'kustomize.toolkit.fluxcd.io/namespace': namespace,
    };
    const objects = (await objectsOf(kustomization)).map((object): AnyObject => {
      return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
    });
    await applyAll(flux, objects);
    for (const object of objects.filter(({ kind }) => kind === 'Deployment')) {
      if (spec.wait && !(await isAvailable(flux, object))) return;
    }
    await flux.patchStatus(reference(metadata.name), {
      observedGeneration: metadata.generation,
      lastHandledReconcileAt: requestOf(kustomization) ?? null,
      conditions: [{ ...READY, lastTransitionTime: new Date().toISOString() }],
    });
  }

  const log = (error: Error) => void process.stderr.write(`flux: ${error.message}\n`);
  const reconcileAll = async () => {
    const all = await flux.list<AnyObject>(KUSTOMIZATION, 'Kustomization', 'flux-system');
    for (const each of all) await reconcile(each, all).catch(log);
  };
  return repeat(LOOK_MS, reconcileAll, log);
}

export const reference = (name = '') => ({
  apiVersion: KUSTOMIZATION,
  kind: 'Kustomization',
  metadata: { name, namespace: 'flux-system' },
});

/** cert-manager, installed by a Kustomization of its name. */
export async function installCertManager({ admin }: ClusterView): Promise<void> {
  const sourceRef = { kind: 'OCIRepository', name: 'cert-manager' };
  const spec = { interval: '1h', path: './/', prune: true, suspend: true, sourceRef };
  const { object } = await admin.create({ ...reference('cert-manager'), spec });
  const conditions = [{ ...READY, lastTransitionTime: new Date().toISOString() }];
  await admin.patchStatus(reference('cert-manager'), { observedGeneration: object.metadata.generation, conditions });
}

/** Issues the requested certificate: a Secret, and its authority in the webhook configurations. */
export async function issueCertificate({ admin }: ClusterView, reader: Reader): Promise<void> {
  const certificate = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' };
  const configuration = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
  await waitFor(
    () => admin.find({ ...certificate, metadata: { name: 'rollout-hooks', namespace: 'rollout-hooks' } }),
    'the Certificate',
    120_000,
  );
  await waitFor(() => admin.find({ ...configuration, metadata: { name: 'rollout-hooks' } }), 'the webhooks', 120_000);
  await reader.run('rollout-hooks/dev/scripts/webhook-certificate.sh');
}
