/** The versions of HealthChecks in the order in which etcd stored them, and those that a cache may hold. */
import type { AnyObject } from '../client/send.ts';

export interface HealthVersion {
  /** When the recorder saw the version, which was stored then or earlier. */
  seenMs: number;
  /** undefined while no HealthCheck has this name. */
  check: AnyObject | undefined;
}

const ABSENT: HealthVersion = { seenMs: Number.NEGATIVE_INFINITY, check: undefined };

export class HealthHistory {
  /** By the HealthCheck's `namespace/name`. */
  private readonly versions = new Map<string, HealthVersion[]>();

  take(name: string, check: AnyObject | undefined, seenMs: number): void {
    const versions = this.versions.get(name) ?? [ABSENT];
    versions.push({ check, seenMs });
    this.versions.set(name, versions);
  }

  namesIn(namespace: string): string[] {
    return [...this.versions.keys()].filter((name) => name.startsWith(`${namespace}/`));
  }

  /** The versions that a cache no older than `ms` may hold: the one that was current then, and every later one. */
  since(name: string, ms: number): HealthVersion[] {
    const versions = this.versions.get(name) ?? [ABSENT];
    return versions.slice(versions.findLastIndex(({ seenMs }) => seenMs <= ms));
  }
}
