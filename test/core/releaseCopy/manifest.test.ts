import { describe, expect, it } from 'vitest';
import { contentsOf, hasLayersOf, OCI_INDEX } from '../../../core/releaseCopy/manifest.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const layer = (letter: string, rest: object = {}) => ({ mediaType: LAYER, digest: digest(letter), size: 7, ...rest });
const read = (manifest: object, type = 'application/json') => contentsOf(JSON.stringify(manifest), type, 'a manifest');

describe('references of a manifest', () => {
  it.each([
    ['OCI', 'application/vnd.oci.image.manifest.v1+json'],
    ['Docker', 'application/vnd.docker.distribution.manifest.v2+json'],
    ['a type that is not known, of the form of an image', 'application/vnd.new.manifest.v9+json'],
  ])('of an image: config, then layers (%s)', (_, mediaType) => {
    expect(read({ mediaType, config: layer('a'), layers: [layer('b'), layer('c')] })).toEqual({
      mediaType,
      manifests: [],
      blobs: [layer('a'), layer('b'), layer('c')],
      artifactType: LAYER,
    });
  });

  it('of an index: manifests', () => {
    const manifests = [layer('a', { mediaType: OCI_INDEX, artifactType: 'x/y', annotations: { a: 'b' } })];
    expect(read({ mediaType: OCI_INDEX, manifests })).toMatchObject({ manifests, blobs: [] });
  });

  it('of an artifact manifest of the draft of OCI 1.1: blobs', () => {
    const mediaType = 'application/vnd.oci.artifact.manifest.v1+json';
    expect(read({ mediaType, blobs: [layer('a')], subject: layer('b') })).toMatchObject({
      blobs: [layer('a')],
      subject: digest('b'),
    });
    expect(read({ mediaType, artifactType: 'a/b' })).toMatchObject({ blobs: [], artifactType: 'a/b' });
  });

  it('has the type in the manifest, or else the registry’s', () => {
    const manifest = { manifests: [] };
    expect(read(manifest, OCI_INDEX).mediaType).toBe(OCI_INDEX);
    expect(read({ ...manifest, mediaType: OCI_INDEX }, 'text/html').mediaType).toBe(OCI_INDEX);
  });

  it.each([
    'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
    'application/vnd.oci.image.layer.nondistributable.v1.tar',
  ])('%s may be missing in a registry', (mediaType) => {
    const { blobs } = read({ config: layer('a'), layers: [layer('b', { mediaType })] });
    expect(blobs.map(({ elsewhere }) => elsewhere)).toEqual([undefined, true]);
  });
});

it.each([
  ['[]', 'a manifest is not a JSON object'],
  ['{', 'a manifest is not a JSON object'],
  ['{"mediaType":"application/vnd.oci.image.index.v1+json"}', 'a manifest has no list manifests'],
  ['{"layers":[],"config":{"digest":"md5:1"}}', 'the digest "md5:1", which is not sha256 or sha512'],
  [`{"layers":[],"config":{"digest":"${digest('a')}","mediaType":"a b","size":1}}`, 'with the media type "a b"'],
  [`{"layers":[],"config":{"digest":"${digest('a')}","mediaType":"a/b","size":1.5}}`, 'with the size 1.5'],
  ['{"layers":[],"config":{"digest":"sha256:', 'a manifest is not a JSON object'],
  ['{"mediaType":"x/y"}', 'has the unknown media type "x/y", so what it refers to is unknown too'],
])('%s is refused', (text, message) => {
  expect(() => contentsOf(text, 'application/json', 'a manifest')).toThrow(message);
});

describe('an attachment of cosign has all layers of another one', () => {
  const [alice, bob] = [{ by: 'alice', at: '1' }, { by: 'bob' }].map((annotations) => layer('a', { annotations }));
  const signatures = (...layers: object[]) => ({ config: layer(String(layers.length)), layers });
  it.each([
    ['if a signature was added', signatures(alice!, bob!), signatures(alice!), true],
    [
      'in another order, of annotations too',
      signatures(bob!, alice!),
      signatures(layer('a', { annotations: { at: '1', by: 'alice' } }), bob!),
      true,
    ],
    ['not if it lacks one of the same payload', signatures(alice!), signatures(bob!), false],
    ['not if the other one has more', signatures(alice!), signatures(alice!, bob!), false],
    ['not if the other one is an index', signatures(alice!), { manifests: [] }, false],
    ['not if the other one has unreadable layers', signatures(alice!), { layers: ['alice'] }, false],
    ['not if it is an index itself', { manifests: [] }, signatures(alice!), false],
  ])('%s', (_, one, other, expected) => {
    expect(hasLayersOf(JSON.stringify(one), JSON.stringify(other))).toBe(expected);
  });
});
