/** The objects of `kubectl apply -k`, in the groups in which they are installed here. */
import type { AnyObject } from '../../client/send.ts';
import { kustomizeBuild } from './kustomize.ts';
import { parseManifests } from './manifests.ts';

export interface Installation {
  /** CRDs, Metacontroller's own among them. */
  kinds: AnyObject[];
  namespaces: AnyObject[];
  /** ServiceAccounts, RBAC, admission policies. */
  rights: AnyObject[];
  /** Deployments, and what belongs to their Pods. */
  workloads: AnyObject[];
  webhooks: AnyObject[];
  controllers: AnyObject[];
}

/** Renders overlays/with-metacontroller with these components of manifests/components. */
export async function renderInstallation(components: readonly string[]): Promise<Installation> {
  const text = await kustomizeBuild({
    resources: ['manifests/overlays/with-metacontroller'],
    components: components.map((name) => `manifests/components/${name}`),
  });
  const parts = Object.groupBy(parseManifests(text), partOf);
  const { kinds = [], namespaces = [], rights = [], workloads = [], webhooks = [], controllers = [] } = parts;
  return { kinds, namespaces, rights, workloads, webhooks, controllers };
}

function partOf({ apiVersion = '', kind }: AnyObject): keyof Installation {
  if (kind === 'CustomResourceDefinition') return 'kinds';
  if (kind === 'Namespace') return 'namespaces';
  if (apiVersion.startsWith('metacontroller.k8s.io/')) return 'controllers';
  if (kind?.endsWith('WebhookConfiguration')) return 'webhooks';
  const isRight = kind === 'ServiceAccount' || /^(rbac\.authorization|admissionregistration)\./.test(apiVersion);
  return isRight ? 'rights' : 'workloads';
}
