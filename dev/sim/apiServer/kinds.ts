/** The resources that the API server serves: api/kinds.ts, Metacontroller's, and a few of Kubernetes. */
import { join } from 'node:path';
import { apiVersionOf, KINDS } from '../../../api/kinds.ts';
import { readManifests } from '../../local/install/manifests.ts';
import { REPOSITORY } from '../../repository.ts';
import { CustomResource } from './schema.ts';

export interface Kind {
  kind: string;
  group: string;
  version: string;
  /** Plural, lower case. */
  resource: string;
  namespaced: boolean;
  hasStatus: boolean;
  schema: CustomResource | undefined;
}

const definitions = new Map(
  readManifests(join(REPOSITORY, 'manifests/crds')).map((definition) => [definition.spec.names.kind, definition]),
);

const custom = Object.values(KINDS).flatMap((row): Kind[] => {
  const definition = definitions.get(row.kind);
  const namespaced = definition?.spec.scope !== 'Cluster';
  const schema = definition && new CustomResource(definition);
  const { kind, group, resource } = row;
  // Only the newest version: conversion isn't simulated.
  return [{ kind, group, resource, version: apiVersionOf(row).split('/')[1]!, namespaced, hasStatus: true, schema }];
});

const plain = (apiVersion: string, kind: string, resource: string, namespaced: boolean, hasStatus = false): Kind => {
  const [group = '', version = apiVersion] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return { kind, group, version, resource, namespaced, hasStatus, schema: undefined };
};

const ALL: readonly Kind[] = [
  ...custom,
  plain('v1', 'Namespace', 'namespaces', false),
  plain('v1', 'Event', 'events', true),
  plain('v1', 'Secret', 'secrets', true),
  plain('v1', 'ConfigMap', 'configmaps', true),
  plain('v1', 'Pod', 'pods', true, true),
  plain('batch/v1', 'Job', 'jobs', true),
  plain('apps/v1', 'Deployment', 'deployments', true, true),
  plain('apps/v1', 'StatefulSet', 'statefulsets', true, true),
  plain('apps/v1', 'DaemonSet', 'daemonsets', true, true),
  plain('metacontroller.k8s.io/v1alpha1', 'CompositeController', 'compositecontrollers', false),
  plain('metacontroller.k8s.io/v1alpha1', 'DecoratorController', 'decoratorcontrollers', false),
];

const byResource = new Map(ALL.map((kind) => [`${kind.group}/${kind.resource}`, kind]));

export const kindAt = (group: string, resource: string): Kind | undefined => byResource.get(`${group}/${resource}`);

/** The resources of a group and version, in the form of discovery. */
export function resourcesOf(group: string, version: string): { name: string; kind: string; namespaced: boolean }[] {
  return ALL.filter((kind) => kind.group === group && kind.version === version).flatMap(
    ({ kind, resource, namespaced, hasStatus }) => [
      { name: resource, kind, namespaced },
      ...(hasStatus ? [{ name: `${resource}/status`, kind, namespaced }] : []),
    ],
  );
}
