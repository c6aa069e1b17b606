/** A fake image-reflector-controller: scans a real registry, and selects the highest version for an ImagePolicy. */
import { repeat } from '../../../dev/local/process/repeat.ts';
import type { RealRegistry } from '../../../dev/local/registry/realRegistry.ts';
import type { ClusterView } from './cluster.ts';

const SCAN_MS = 200;
const VERSION = /^\d+\.\d+\.\d+$/;

/** Scans until it is stopped. @param repository the repository of the ImagePolicy's ImageRepository */
export function scanning(
  { publish }: Pick<ClusterView, 'publish'>,
  registry: RealRegistry,
  { namespace, policy, repository }: { namespace: string; policy: string; repository: string },
): { stop(): Promise<void> } {
  let selected: string | undefined;
  const scan = async () => {
    const versions = (await registry.tags(repository)).filter((tag) => VERSION.test(tag));
    const newest = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
    if (newest === undefined || newest === selected) return;
    await publish(namespace, policy, newest, (await registry.pull(repository, newest))!.digest);
    selected = newest;
  };
  return repeat(SCAN_MS, scan);
}
