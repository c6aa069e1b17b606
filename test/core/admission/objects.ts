/** Objects for the tests of core/managedField, core/admission and their neighbours, webhooks/flux and hooks/flux. */

import { DEPLOYED, LAST_APPLIED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { ManagedFieldsEntry } from '../../../api/kubernetes.ts';
import type { Gate, Rollout } from '../../../api/types.ts';
import { decideWrite, type FluxWrite, gatesOfWrite, type WriteContext } from '../../../core/admission/fluxWrite.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import type { SelectingGates } from '../../../core/gate/gateSelection.ts';
import { refKey, sortedByKey } from '../../../core/kube/names.ts';
import { denialText } from '../../../core/objectGates/gateTexts.ts';
import { gatesToRead } from '../../../core/objectGates/objectGates.ts';
import { fullText } from '../../../core/text/commands.ts';
import { objectOf } from '../../support/objects.ts';

export const NOW = Date.parse('2026-03-04T10:00:00Z');
/** Too old for a race between two webhook calls. */
const COMMITTED = '2026-03-04T09:00:00Z';

/** A Rollout whose history is `tags`, newest first; ids count down to 1. */
export function rollout(name: string, ...tags: string[]): Rollout {
  return objectOf('Rollout', `shop/${name}`, {
    metadata: { uid: `uid-${name}` },
    spec: { releasesImagePolicy: { name } },
    status: { history: tags.map((tag, i) => ({ id: tags.length - i, version: { tag }, timestamp: COMMITTED })) },
  });
}

export function rolloutsByName(...rollouts: Rollout[]): Map<string, Rollout> {
  return new Map(rollouts.map((r) => [r.metadata.name ?? '', r]));
}

/** `my-app=2/1.1.0/uid-my-app`, as the webhook would write it for `rollout(name, ...tags)`. */
export function deployment(name: string, id: number, version: string): string {
  return `${name}=${id}/${version}/uid-${name}`;
}

export interface KustomizationParts {
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  substitute?: Record<string, string> | null;
  deployed?: string;
  managedFields?: ManagedFieldsEntry[];
  lastApplied?: Record<string, string>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  generation?: number;
}

/** Named shop/web; `APP` follows Rollout my-app by default. */
export function kustomization(parts: KustomizationParts = {}): FluxObject {
  const substitute = parts.substitute === null ? undefined : (parts.substitute ?? { APP: '1.1.0' });
  const lastApplied = parts.lastApplied && JSON.stringify({ spec: { postBuild: { substitute: parts.lastApplied } } });
  return objectOf('Kustomization', {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'uid-web',
      generation: parts.generation ?? 3,
      ...(parts.labels && { labels: parts.labels }),
      annotations: {
        ...(parts.annotations ?? { 'rollout.kuberik.com/substitute.APP.from': 'my-app' }),
        ...(parts.deployed && { [DEPLOYED]: parts.deployed }),
        ...(lastApplied && { [LAST_APPLIED]: lastApplied }),
      },
      ...(parts.managedFields && { managedFields: parts.managedFields }),
    },
    spec: {
      interval: '10m',
      prune: true,
      sourceRef: { kind: 'GitRepository', name: 'shop' },
      ...(substitute && { postBuild: { substitute } }),
      ...parts.spec,
    },
    ...(parts.status && { status: parts.status }),
  });
}

export function ociRepository(ref: Record<string, string> | null, parts: KustomizationParts = {}): FluxObject {
  return objectOf('OCIRepository', {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'uid-oci',
      generation: parts.generation ?? 3,
      annotations: {
        ...(parts.annotations ?? { 'rollout.kuberik.com/rollout': 'my-app' }),
        ...(parts.deployed && { [DEPLOYED]: parts.deployed }),
      },
      ...(parts.managedFields && { managedFields: parts.managedFields }),
    },
    spec: { url: 'oci://registry.example/shop', interval: '1m', ...(ref && { ref }), ...parts.spec },
    ...(parts.status && { status: parts.status }),
  });
}

/** Named shop/web; follows Rollout my-app by its OCIRepository by default. */
export function helmRelease(parts: KustomizationParts = {}): FluxObject {
  return objectOf('HelmRelease', 'shop/web', {
    metadata: {
      uid: 'uid-helm',
      generation: parts.generation ?? 3,
      annotations: parts.annotations ?? { 'rollout.kuberik.com/rollout': 'my-app' },
    },
    spec: { interval: '10m', chartRef: { kind: 'OCIRepository', name: 'web' }, ...parts.spec },
    ...(parts.status && { status: parts.status }),
  });
}

/** The status of helm-controller after it has released the chart in an OCI artifact. */
export function released(ociDigest: string, { generation = 3, ready = 'True', status = 'deployed' } = {}) {
  return {
    observedGeneration: generation,
    lastAttemptedRevisionDigest: ociDigest,
    history: [{ version: 2, status, ociDigest }],
    conditions: [
      {
        type: 'Ready',
        status: ready,
        reason: 'x',
        message: '',
        lastTransitionTime: '',
        observedGeneration: generation,
      },
    ],
  };
}

/** A managedFields entry that owns the given paths, such as `spec.postBuild.substitute.APP` or `annotation:key`. */
export function owner(operation: 'Apply' | 'Update', ...paths: string[]): ManagedFieldsEntry {
  const fieldsV1: Record<string, any> = {};
  for (const path of paths) {
    let at = fieldsV1;
    const [, annotation] = path.split('annotation:');
    for (const key of annotation ? ['metadata', 'annotations', annotation] : path.split('.')) {
      at[`f:${key}`] ??= {};
      at = at[`f:${key}`];
    }
  }
  return { manager: `${operation}-manager`, operation, fieldsType: 'FieldsV1', fieldsV1 };
}

export const APP_PATH = 'spec.postBuild.substitute.APP';

/** A Gate `ns/name`, closed by default. */
export function gate(at: string, spec: Partial<Gate['spec']> = {}, annotations: Record<string, string> = {}): Gate {
  const [namespace = '', name = ''] = at.split('/');
  return objectOf('Gate', {
    metadata: {
      namespace,
      name,
      annotations,
      ...(spec.selects && {
        labels: { 'gate.fluxcd.io/selects': spec.selects.namespaceSelector ? '' : 'own-namespace' },
      }),
    },
    spec: { default: 'closed', ...spec },
  });
}

export function gatesByName(...gates: Gate[]): Map<string, Gate> {
  return new Map(gates.map((g) => [`${g.metadata.namespace}/${g.metadata.name}`, g]));
}

type Denied = { denial: string; warnings: string[] };
type Stored = { object: FluxObject; warnings: string[]; denial?: undefined };

type TestWrite = Omit<FluxWrite, Exclude<keyof WriteContext, 'old'>> & { context: TestContext };
/** Gates of which none selects an object. */
export const NO_SELECTING_GATES: SelectingGates = { gates: [], namespaceLabels: {} };

type TestContext = Omit<WriteContext, 'selectingGates' | 'noCrossNamespaceRefs' | 'old'> & {
  namespaceLabels?: Record<string, string>;
};

/** The write with what the webhook would compute for it without a list of Gates. */
export function asRead(write: TestWrite): FluxWrite {
  const { context, ...request } = write;
  const { object, old } = request;
  const { namespaceLabels = {}, ...others } = context;
  const { selecting } = gatesToRead([object, ...(old ? [old] : [])], ANY_REF);
  const gates = sortedByKey(selecting.flatMap((ref) => others.gates.get(refKey(ref)) ?? []));
  const selectingGates = { gates, namespaceLabels };
  const read = gatesOfWrite({ object, old }, { ...ANY_REF, ...others, selectingGates });
  return { reasonCounts: write.bypass?.granted, ...others, ...request, ...read, closed: read.oldGates?.closed };
}

/** The outcome of a write in shop, with the denial for a user who may read no other namespace. */
export function decide(write: TestWrite): Stored | Denied {
  const { fieldManager } = write;
  const isSync = fieldManager !== undefined && !fieldManager.startsWith('kubectl');
  const outcome = decideWrite({ isSync, ...asRead(write) });
  if (!outcome.denial) return outcome;
  return { denial: fullText(denialText(outcome.denial, 'shop')), warnings: outcome.warnings };
}
