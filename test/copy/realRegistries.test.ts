/** The copy command between two real registries (distribution v3) with passwords. */
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, USER } from '../../dev/local/registry/realRegistry.ts';
import { twoRegistries } from '../support/registries.ts';
import { copyCommand, copyHere, type Here, mountedLogin, type Options } from './command.ts';
import { OCI_INDEX, OCI_MANIFEST } from './fakeRegistry.ts';

const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
/** Large enough that the copy is killed during a layer. */
const LAYER_BYTES = 200_000;

const [source, target] = await twoRegistries();

const REPOSITORY = 'dev/app';

function optionsOf(tag: string, rest: Partial<Here>): Here {
  const logins = [
    ...['--source-secret', mountedLogin(source.host, USER, PASSWORD)],
    ...['--target-secret', mountedLogin(target.host, USER, PASSWORD)],
  ];
  const places = { source: `${source.host}/${REPOSITORY}`, target: `${target.host}/prod/app` };
  return { ...places, tag, ...rest, more: [...logins, ...(rest.more ?? [])] };
}

const copy = (tag: string, rest: Partial<Here> = {}) => copyHere(optionsOf(tag, rest));
/** By a process of its own, to which `watch` sends a signal. */
const copyUntil = (tag: string, { watch, ...rest }: Partial<Options>) =>
  copyCommand({ ...optionsOf(tag, rest), ...(watch && { watch }) });

async function image(layers: string[], rest: object = {}) {
  const config = { mediaType: CONFIG, ...(await source.pushBlob(REPOSITORY, '{}')) };
  const blobs = [];
  for (const layer of layers) blobs.push({ mediaType: LAYER, ...(await source.pushBlob(REPOSITORY, layer)) });
  return { schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers: blobs, ...rest };
}

/** Pushes a manifest; `subject` makes it a referrer. */
async function pushed(tag: string, manifest: { mediaType: string }) {
  const digest = await source.push(REPOSITORY, tag, manifest);
  return { mediaType: manifest.mediaType, digest, size: Buffer.byteLength(JSON.stringify(manifest)) };
}

const inTarget = (reference: string) => target.pull('prod/app', reference);

describe('an artifact of 50 layers', () => {
  const content = (i: number) => `${i} `.padEnd(LAYER_BYTES, String.fromCharCode(97 + (i % 26)));
  let digest: string;

  beforeAll(async () => {
    const layers = Array.from({ length: 50 }, (_, i) => content(i));
    digest = (await pushed('1.0.0', await image(layers))).digest;
  });

  it('is copied, by a process that is killed three times before', async () => {
    for (let killed = 0; killed < 3; killed++) {
      // Each copies more blobs than the one before.
      const enough = new RegExp(`^blob ${22 * killed + 1} of 51`);
      const { signal } = await copyUntil('1.0.0', {
        watch: (line, child) => enough.test(line) && child.kill('SIGKILL'),
      });
      expect(signal).toBe('SIGKILL');
      expect(await inTarget('1.0.0')).toBeUndefined();
    }
    const { result, stderr } = await copy('1.0.0');
    expect(result).toMatchObject({ outcome: 'Copied', digest, blobs: 51 });
    expect(stderr.match(/ existed,/g)!.length).toBeGreaterThan(40);
    expect(result.uploadedBytes).toBeLessThan(10 * LAYER_BYTES);
    expect((await inTarget('1.0.0'))!.digest).toBe(digest);
    expect(await target.pullBlob('prod/app', JSON.parse((await inTarget(digest))!.text).layers[49].digest)).toBe(
      content(49),
    );
  });

  it('ends at once on SIGTERM, with a message', async () => {
    const { code, result } = await copyUntil('1.0.0', {
      target: `${target.host}/interrupted`,
      watch: (line, child) => line.startsWith('blob 3 of') && child.kill('SIGTERM'),
    });
    expect({ code, ...result }).toMatchObject({ code: 143, outcome: 'Interrupted' });
  });

  it('is mounted where both are repositories of one registry', async () => {
    const { result, stderr } = await copy('1.0.0', {
      target: `${source.host}/prod/app`,
      more: ['--target-secret', mountedLogin(source.host, USER, PASSWORD)],
    });
    expect(result).toMatchObject({ outcome: 'Copied', digest, uploadedBytes: 0 });
    expect(stderr.match(/ mounted,/g)!.length).toBe(51);
  });
});

it('copies an index of four platforms with all of them, its signatures and its SBOM', async () => {
  const platforms = [];
  for (const architecture of ['amd64', 'arm64', 'arm', 's390x']) {
    platforms.push({
      ...(await pushed(architecture, await image([architecture]))),
      platform: { os: 'linux', architecture },
    });
  }
  const index = await pushed('2.0.0', { schemaVersion: 2, mediaType: OCI_INDEX, manifests: platforms } as {
    mediaType: string;
  });
  const form = (digest: string) => digest.replace(':', '-');
  // As cosign signs the index and a platform.
  const signature = await pushed(`${form(index.digest)}.sig`, await image(['signature of the index']));
  const attestation = await pushed(`${form(platforms[0]!.digest)}.att`, await image(['attestation of amd64']));
  // As oras and notation do for a registry without referrers API.
  const sbom = await pushed('sbom', await image(['sbom'], { subject: index, artifactType: 'application/spdx+json' }));
  await source.push(REPOSITORY, form(index.digest), {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [{ ...sbom, artifactType: 'application/spdx+json' }],
  });

  const { result } = await copy('2.0.0');
  expect(result).toMatchObject({ outcome: 'Copied', digest: index.digest, manifests: 8 });
  for (const { digest } of [index, ...platforms, signature, attestation, sbom])
    expect((await inTarget(digest))?.digest).toBe(digest);
  expect((await inTarget(`${form(index.digest)}.sig`))!.digest).toBe(signature.digest);
  expect((await inTarget(`${form(platforms[0]!.digest)}.att`))!.digest).toBe(attestation.digest);
  expect(JSON.parse((await inTarget(form(index.digest)))!.text).manifests).toEqual([
    expect.objectContaining({ digest: sbom.digest, artifactType: 'application/spdx+json' }),
  ]);
  expect((await copy('2.0.0')).result).toMatchObject({ outcome: 'Copied', uploadedBytes: 0 });
});

it('names the side of a wrong password', async () => {
  await pushed('3.0.0', await image(['three']));
  const { code, result } = await copy('3.0.0', { more: ['--target-secret', mountedLogin(target.host, USER, 'guess')] });
  expect({ code, ...result }).toMatchObject({
    code: 4,
    outcome: 'Denied',
    message: expect.stringMatching(`^the target ${target.host} refuses .* push to`),
  });
});
