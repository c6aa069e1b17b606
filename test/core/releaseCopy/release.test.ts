import { describe, expect, it } from 'vitest';
import { type Blob, type Contents, cosignTags, mergedList, referrersTag } from '../../../core/releaseCopy/manifest.ts';
import {
  addLooseBlob,
  addPart,
  blobsOf,
  COPY_LIMITS,
  emptyRelease,
  partsWithSubject,
  pushOrder,
} from '../../../core/releaseCopy/release.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const blob = (letter: string, size = 1, rest: Partial<Blob> = {}): Blob => ({
  mediaType: 'a/b',
  digest: digest(letter),
  size,
  ...rest,
});

/** A release of these manifests, in the order in which they were found. */
function release(...parts: ({ is: string; bytes?: number } & Partial<Contents>)[]) {
  const found = emptyRelease(digest(parts[0]!.is));
  for (const { is, bytes = 1, ...contents } of parts) {
    const manifest = { digest: digest(is), mediaType: 'a/b', bytes: new Uint8Array(bytes) };
    addPart(found, { manifest, contents: { mediaType: 'a/b', manifests: [], blobs: [], ...contents } });
  }
  return found;
}

describe('a release is pushed', () => {
  it('copies the parts of an index before it, and its referrers after it', () => {
    const found = release(
      { is: 'a', manifests: [blob('b'), blob('c')] },
      { is: 'b', manifests: [blob('d')] },
      { is: 'e', subject: digest('a') },
      { is: 'c' },
      { is: 'd' },
    );
    const order = pushOrder(found).map(({ manifest }) => manifest.digest);
    expect(order).toEqual(['d', 'b', 'c', 'a', 'e'].map(digest));
    expect([...partsWithSubject(found).keys()]).toEqual([digest('a')]);
  });

  it('copies each blob once; one that may be elsewhere if another manifest needs it', () => {
    const found = release(
      { is: 'a', blobs: [blob('1'), blob('2', 1, { elsewhere: true }), blob('3', 1, { elsewhere: true })] },
      { is: 'b', blobs: [blob('1'), blob('2')] },
    );
    expect(blobsOf(found)).toEqual([blob('1'), blob('2'), blob('3', 1, { elsewhere: true })]);
  });

  it('copies nothing if a manifest contradicts itself about a blob', () => {
    const found = release({ is: 'a', blobs: [blob('1', 5)] }, { is: 'b', blobs: [blob('1', 6)] });
    expect(() => blobsOf(found)).toThrow(`the release says that ${digest('1')} has 5 and 6 bytes`);
  });
});

describe('a release is at most', () => {
  const hex = (i: number) => ({ ...blob('a'), digest: `sha256:${i.toString(16).padStart(64, '0')}` });

  it(`${COPY_LIMITS.manifestsBytes} bytes of manifests`, () => {
    const half = COPY_LIMITS.manifestsBytes / 2;
    expect(() => release({ is: 'a', bytes: half }, { is: 'b', bytes: half })).not.toThrow();
    expect(() => release({ is: 'a', bytes: half }, { is: 'b', bytes: half + 1 })).toThrow(
      `manifests of more than ${COPY_LIMITS.manifestsBytes} bytes`,
    );
  });

  it(`${COPY_LIMITS.blobs} blobs`, () => {
    const blobs = Array.from({ length: COPY_LIMITS.blobs }, (_, i) => hex(i));
    expect(blobsOf(release({ is: 'a', blobs })).length).toBe(COPY_LIMITS.blobs);
    expect(() => blobsOf(release({ is: 'a', blobs: [...blobs, hex(COPY_LIMITS.blobs)] }))).toThrow(
      `more than ${COPY_LIMITS.blobs} blobs`,
    );
  });

  it(`${COPY_LIMITS.blobs} blobs that an index lists itself`, () => {
    const found = release({ is: 'a' });
    for (let i = 0; i < COPY_LIMITS.blobs; i++) addLooseBlob(found, hex(i));
    expect(blobsOf(found).length).toBe(COPY_LIMITS.blobs);
    expect(() => addLooseBlob(found, hex(COPY_LIMITS.blobs))).toThrow(`more than ${COPY_LIMITS.blobs} blobs`);
  });
});

describe('referrers of a manifest', () => {
  it('are looked up under these tags', () => {
    const hex = 'a'.repeat(64);
    expect(cosignTags(digest('a'))).toEqual([`sha256-${hex}.sig`, `sha256-${hex}.att`, `sha256-${hex}.sbom`]);
    expect(referrersTag(digest('a'))).toBe(`sha256-${hex}`);
    expect(referrersTag(`sha512:${'b'.repeat(128)}`)).toBe(`sha512-${'b'.repeat(64)}`);
  });

  it('are added once to an existing list', () => {
    const list = mergedList(undefined, [blob('1')], 'a list')!;
    expect(JSON.parse(list).manifests).toEqual([blob('1')]);
    expect(mergedList(list, [blob('1')], 'a list')).toBeUndefined();
    expect(JSON.parse(mergedList(list, [blob('1'), blob('2')], 'a list')!).manifests).toEqual([blob('1'), blob('2')]);
  });
});
