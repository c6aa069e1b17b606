/** Files of manifests/components/monitoring. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyObject } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { parseManifests } from '../install/manifests.ts';

const COMPONENT = join(REPOSITORY, 'manifests/components/monitoring');

/** Path of the configuration of kube-state-metrics. */
export const EXPORTER_CONFIG = join(COMPONENT, 'config/kube-state-metrics.yaml');

/** The alerts, as a rules file of Prometheus. */
export const rules = (): object => objectIn('prometheus-rule.yaml').spec;

/** The ClusterRole of kube-state-metrics. */
export const exporterRole = (): AnyObject => objectIn('role.yaml');

const objectIn = (file: string): AnyObject => parseManifests(readFileSync(join(COMPONENT, file), 'utf8'))[0]!;
