/** The content of a release's OCI artifact: manifests that name the image by its digest. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../repository.ts';

/** The parts of `IMAGE@sha256:…`. @throws for another text */
export function imageByDigest(image: string): { name: string; digest: string } {
  const [, name, digest] = /^([^@\s"]+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
  if (!name || !digest) throw new Error(`${image} is not IMAGE@sha256:DIGEST`);
  return { name, digest };
}

/**
 * Writes manifests/ with the image into the new folder `out`, so that a Flux object needs only the artifact's URL.
 * @param base the address of this repository at the release, with a slash at the end, for the alerts' `runbook_url`
 * @throws if the folder exists
 */
export function writeArtifact(out: string, image: string, base: string): void {
  const { name, digest } = imageByDigest(image);
  if (existsSync(out)) throw new Error(`${out} exists`);
  cpSync(join(REPOSITORY, 'manifests'), out, { recursive: true });
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.yaml')) continue;
    const text = readFileSync(join(out, file), 'utf8');
    // Deployment and Jobs. In `oci://…/rollout-hooks-manifests:0.1.0` it is another name.
    const changed = text
      .replace(/(?<=[\s"])rollout-hooks:\d+\.\d+\.\d+(?=["\s])/g, () => `${name}@${digest}`)
      .replace(/(?<=runbook_url: )(?=docs\/)/g, () => base);
    if (changed !== text) writeFileSync(join(out, file), changed);
  }
}
