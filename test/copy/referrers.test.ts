/** What belongs to a release by reference: referrers, by API or tag, and the tags of cosign. */
import { beforeEach, describe, expect, it } from 'vitest';
import { startLocalServer } from '../support/localServer.ts';
import { copyHere, type Here } from './command.ts';
import {
  answering,
  type FakeRegistry,
  image,
  OCI_INDEX,
  OCI_MANIFEST,
  sha256,
  startFakeRegistry,
} from './fakeRegistry.ts';

const source = await startFakeRegistry();
const target = await startFakeRegistry();
beforeEach(() => {
  for (const registry of [source, target]) registry.reset();
});

const copy = (rest: Partial<Here> = {}) =>
  copyHere({ source: `${source.host}/dev/app`, target: `${target.host}/prod/app`, tag: '1.0.0', ...rest });
const release = () => image(source, 'dev/app', ['one', 'two'], '1.0.0');

describe('referrers of a release', () => {
  const about = (subject: object, layer: string) =>
    image(source, 'dev/app', [layer], undefined, { subject, artifactType: 'application/spdx+json' });
  const form = (digest: string) => digest.replace(':', '-');
  const list = (repository: FakeRegistry, name: string, tag: string, manifests: object[]) =>
    repository.manifest(name, { schemaVersion: 2, mediaType: OCI_INDEX, manifests }, tag);

  it('are found page by page, with their own referrers, and listed by the target', async () => {
    source.hasReferrers = target.hasReferrers = true;
    const root = release();
    const sbom = about(root, 'sbom');
    const found = [about(root, 'signature'), sbom, about(sbom, 'signature of the sbom')];
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', manifests: 4 });
    for (const { digest } of found) expect(target.manifests.has(`prod/app ${digest}`)).toBe(true);
    expect([...target.manifests.keys()].filter((key) => key.includes('sha256-'))).toEqual([]);
  });

  it.each([
    ['another protocol', (host: string) => `https://${host}`],
    ['another port', () => 'http://127.0.0.1:1'],
  ])('are read at the known address of the registry if its link to the next page names %s', async (_, origin) => {
    source.hasReferrers = true;
    const root = release();
    for (const layer of ['signature', 'sbom']) about(root, layer);
    source.pageOrigin = origin(source.host);
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', manifests: 3 });
  });

  it('are read from the registry itself, if its link has a path that looks like another host', async () => {
    const asked: (string | undefined)[] = [];
    const other = await startLocalServer((request, response) => {
      asked.push(request.url);
      response.writeHead(404).end();
    });
    source.hasReferrers = true;
    const root = release();
    for (const layer of ['signature', 'sbom']) about(root, layer);
    source.pageOrigin = `http://${source.host}//${other.host}`;
    expect((await copy()).result.outcome).toBe('Copied');
    expect(asked).toEqual([]);
  });

  it('are listed under a tag if the target has no API for them, next to other clients’ entries', async () => {
    source.hasReferrers = true;
    const root = release();
    const sbom = about(root, 'sbom');
    const others = { mediaType: OCI_MANIFEST, digest: sha256('others'), size: 6 };
    list(target, 'prod/app', form(root.digest), [others]);
    await copy();
    const { manifests } = JSON.parse(target.manifests.get(`prod/app ${form(root.digest)}`)!.bytes.toString());
    expect(manifests).toEqual([others, { ...sbom, artifactType: 'application/spdx+json' }]);
  });

  it.each([
    ['404, as by the specification', 404, {}],
    ['405, as distribution for what it does not implement', 405, {}],
    ['406, as Artifactory', 406, {}],
    ['501', 501, {}],
    ['a redirect to a page for people, as GitHub', 303, { location: 'https://github.example/packages' }],
    ['something other than an index', 200, { 'content-type': 'text/html' }],
  ])('are those of the tag if the source has no API for them and answers %s', async (_, status, headers) => {
    const root = release();
    const sbom = about(root, 'sbom');
    list(source, 'dev/app', form(root.digest), [sbom]);
    source.meddle = answering('GET', /referrers/, status, headers);
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', manifests: 2 });
    expect(target.manifests.has(`prod/app ${sbom.digest}`)).toBe(true);
  });

  it.each([
    ['404', 404, {}, /answers 404 .*to page 2 of the list of referrers of sha256:/],
    ['403', 403, {}, /refuses page 2 of the list of referrers of sha256:\w+ \(403 .*right to pull from/],
    ['a redirect elsewhere', 303, { location: 'https://github.example/packages' }, /redirects elsewhere/],
    [
      'something other than an index',
      200,
      { 'content-type': 'text/html' },
      /page 2 of the list of referrers of sha256:\w+ as text\/html/,
    ],
  ])('are not left out because the source answers %s for a later page', async (_, status, headers, message) => {
    source.hasReferrers = true;
    const root = release();
    for (const layer of ['signature', 'sbom']) about(root, layer);
    source.meddle = answering('GET', /referrers.*page=1/, status, headers);
    const { result } = await copy();
    expect(result.outcome).not.toBe('Copied');
    expect(result.message).toMatch(message);
    expect(target.manifests.size).toBe(0);
  });

  it('are not the manifest itself, with which GitLab answers for the tag of its list', async () => {
    const { digest } = release();
    source.manifests.set(`dev/app ${form(digest)}`, source.manifests.get(`dev/app ${digest}`)!);
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', manifests: 1 });
    source.hasReferrers = true;
    const sbom = about(release(), 'sbom');
    target.manifests.set(`prod/app ${form(digest)}`, target.manifests.get(`prod/app ${digest}`)!);
    expect((await copy()).result).toMatchObject({ outcome: 'Copied', manifests: 2 });
    const { manifests } = JSON.parse(target.manifests.get(`prod/app ${form(digest)}`)!.bytes.toString());
    expect(manifests).toEqual([{ ...sbom, artifactType: 'application/spdx+json' }]);
  });

  it('are listed by the API for each platform, even if it has answered 404 for another one', async () => {
    source.hasReferrers = true;
    const [first, second] = ['amd64', 'arm64'].map((layer) => image(source, 'dev/app', [layer]));
    list(source, 'dev/app', '1.0.0', [first!, second!]);
    const sbom = about(second!, 'sbom');
    source.meddle = answering('GET', new RegExp(`referrers/${first!.digest}`), 404);
    expect((await copy()).result.outcome).toBe('Copied');
    expect(target.manifests.has(`prod/app ${sbom.digest}`)).toBe(true);
  });
});

describe('cosign’s tag of a signature', () => {
  const signed = (digest: string) => `${digest.replace(':', '-')}.sig`;
  /** A signature is a layer's annotation: all layers of one payload have the same digest. */
  const sign = (registry: FakeRegistry, repository: string, digest: string, by: string[]) => {
    const config = registry.blob(repository, '{}');
    const payload = registry.blob(repository, digest);
    const layers = by.map((each) => ({ ...payload, annotations: { 'dev.cosignproject.cosign/signature': each } }));
    const manifest = { schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers };
    return registry.manifest(repository, manifest, signed(digest));
  };
  const signatureInTarget = (digest: string) => {
    const stored = target.manifests.get(`prod/app ${signed(digest)}`);
    return stored && sha256(stored.bytes);
  };

  it.each([
    ['', []],
    [', also with --overwrite', ['--overwrite']],
  ])('stays if the target has a signature that the source lacks, and the release is copied%s', async (_, more) => {
    const { digest } = release();
    sign(source, 'dev/app', digest, ['ours']);
    const countersigned = sign(target, 'prod/app', digest, ['ours', 'theirs']);
    const { result } = await copy({ more });
    expect(result).toMatchObject({ outcome: 'Copied', digest });
    expect(result.message).toContain(`the target keeps its own ${signed(digest)}`);
    expect(signatureInTarget(digest)).toBe(countersigned.digest);
  });

  it('moves to a manifest that has all its signatures: a later copy brings a later signature', async () => {
    const { digest } = release();
    sign(source, 'dev/app', digest, ['ours']);
    await copy();
    const later = sign(source, 'dev/app', digest, ['ours', 'the scanner’s']);
    const { result } = await copy();
    expect(result).toMatchObject({ outcome: 'Copied', digest });
    expect(result.message).not.toContain('keeps');
    expect(signatureInTarget(digest)).toBe(later.digest);
  });
});
