/** Image names, as ImageRepositories and ImagePolicies have them: `host/path`, or Docker Hub's short forms. */
import { RegistryError } from './error.ts';

export interface Image {
  /** The host that serves it, with its port: `registry.example`, `localhost:5000`. */
  host: string;
  /** Path in the registry: `library/nginx`. */
  repository: string;
}

const DOCKER_HUB = 'registry-1.docker.io';
const DOCKER_HUB_ALIASES = new Set(['docker.io', 'index.docker.io', DOCKER_HUB, 'registry.hub.docker.com']);
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$/i;
const REPOSITORY = /^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Limits backtracking in the patterns. */
const MAX_LENGTH = 512;

/** The parts of an image name without a tag. @throws RegistryError for any other text */
export function parseImage(name: string): Image {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const hasHost = first.includes('.') || first.includes(':') || first === 'localhost';
  const host = canonicalHost(hasHost ? first : 'docker.io');
  const path = hasHost ? name.slice(slash + 1) : name;
  const repository = host === DOCKER_HUB && !path.includes('/') ? `library/${path}` : path;
  if (name.length > MAX_LENGTH || !HOST.test(host) || !REPOSITORY.test(repository)) {
    throw new RegistryError(`${JSON.stringify(name.slice(0, 200))} is not the name of an image repository`);
  }
  return { host, repository };
}

/** The host in lower case; for every name of Docker Hub, the host that serves its manifests. */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  return DOCKER_HUB_ALIASES.has(lower) ? DOCKER_HUB : lower;
}

export function isSha256Digest(text: string | undefined): text is string {
  return text !== undefined && DIGEST.test(text);
}
