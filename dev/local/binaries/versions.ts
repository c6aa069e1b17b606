/** The oldest Kubernetes with selectable fields of custom resources switched on for good. */
const OLDEST_KUBERNETES = '1.32';

export interface Version {
  major: number;
  minor: number;
}

/**
 * What `--version` says: `Kubernetes v1.36.3`, `etcd Version: 3.6.16`.
 * Undefined where there is none, and for `v0.0.0-master`, a build from source without a version.
 */
export function parseVersion(output: string): Version | undefined {
  const match = /(?:^|[\sv])(\d+)\.(\d+)(?:\.\d+)?/m.exec(output);
  if (!match) return undefined;
  const version = { major: Number(match[1]), minor: Number(match[2]) };
  return version.major === 0 ? undefined : version;
}

export function isAtLeast(version: Version, oldest: string): boolean {
  const [major = 0, minor = 0] = oldest.split('.').map(Number);
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** Whether a binary of that name with that `--version` output will do. Builds without a version are trusted. */
export function isUsable(binary: string, versionOutput: string): boolean {
  if (binary === 'etcd') return /etcd Version: 3\./.test(versionOutput);
  if (!versionOutput.startsWith('Kubernetes v')) return false;
  const version = parseVersion(versionOutput);
  return version === undefined || isAtLeast(version, OLDEST_KUBERNETES);
}
