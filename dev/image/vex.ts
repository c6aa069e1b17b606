/**
 * OpenVEX statements about scanners' findings in the image. A finding that affects rollout-hooks gets a release, not a
 * statement.
 */
import { imageByDigest } from './byDigest.ts';

/**
 * Vulnerabilities that Debian doesn't fix, in programs that the image has and rollout-hooks never runs: it starts no
 * process.
 */
const NEVER_RUN: readonly [cve: string, debianPackage: string][] = [
  ['CVE-2005-2541', 'tar'],
  ['CVE-2011-3374', 'apt'],
  ['CVE-2011-4116', 'perl-base'],
  ['CVE-2017-18018', 'coreutils'],
  ['CVE-2022-0563', 'util-linux'],
];

/** @param image `IMAGE@sha256:…` @param now ISO 8601 */
export function imageVex(image: string, now: string): object {
  const { name, digest } = imageByDigest(image);
  const product = `pkg:oci/${name.split('/').at(-1)}@${encodeURIComponent(digest)}?repository_url=${encodeURIComponent(name)}`;
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:rollout-hooks:vex:${digest}`,
    author: 'rollout-hooks',
    timestamp: now,
    version: 1,
    statements: NEVER_RUN.map(([cve, debianPackage]) => ({
      vulnerability: { name: cve },
      products: [{ '@id': product, subcomponents: [{ '@id': `pkg:deb/debian/${debianPackage}` }] }],
      status: 'not_affected',
      justification: 'vulnerable_code_not_in_execute_path',
      impact_statement: `rollout-hooks starts no other process, so nothing runs ${debianPackage}.`,
    })),
  };
}
