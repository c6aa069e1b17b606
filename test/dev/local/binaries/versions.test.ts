import { describe, expect, it } from 'vitest';
import { isAtLeast, isUsable, parseVersion } from '../../../../dev/local/binaries/versions.ts';

describe('parseVersion', () => {
  it.each([
    ['Kubernetes v1.36.3', { major: 1, minor: 36 }],
    ['Kubernetes v1.32.0-rc.1+abc', { major: 1, minor: 32 }],
    ['etcd Version: 3.6.16\nGit SHA: abc\nGo Version: go1.26.8', { major: 3, minor: 6 }],
    ['Kubernetes v0.0.0-master+$Format:%H$', undefined],
    ['command not found', undefined],
    ['', undefined],
  ])('%j', (output, version) => {
    expect(parseVersion(output)).toEqual(version);
  });
});

describe('isAtLeast', () => {
  it.each([
    [{ major: 1, minor: 31 }, '1.32', false],
    [{ major: 1, minor: 32 }, '1.32', true],
    [{ major: 1, minor: 100 }, '1.32', true],
    [{ major: 2, minor: 0 }, '1.32', true],
  ])('%j, %s: %s', (version, oldest, expected) => {
    expect(isAtLeast(version, oldest)).toBe(expected);
  });
});

describe('isUsable', () => {
  it.each([
    ['kube-apiserver', 'Kubernetes v1.36.3', true],
    ['kube-apiserver', 'Kubernetes v1.31.9', false],
    ['kube-controller-manager', 'Kubernetes v1.32.0', true],
    // A build from source without a stamp is taken at its owner's word.
    ['kube-apiserver', 'Kubernetes v0.0.0-master+$Format:%H$', true],
    ['kube-apiserver', 'etcd Version: 3.6.16', false],
    ['kube-apiserver', '', false],
    ['etcd', 'etcd Version: 3.6.16\nGit SHA: x', true],
    ['etcd', 'etcd Version: 2.3.8', false],
    ['etcd', 'Kubernetes v1.36.3', false],
  ])('%s that says %j: %s', (binary, output, usable) => {
    expect(isUsable(binary, output)).toBe(usable);
  });
});
