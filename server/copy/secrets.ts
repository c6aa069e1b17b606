/** The Secrets of the copy command. */
import { mountedData } from '../fileWatch.ts';
import { type Credentials, credentialsFor } from '../registry/dockerConfig.ts';
import type { Image } from '../registry/image.ts';
import { type Trust, trustOf } from '../registry/trust.ts';

const KEYS = ['.dockerconfigjson', '.dockercfg', 'ca.crt', 'tls.crt', 'tls.key'];

interface Secrets {
  credentials?: Credentials;
  trust?: Trust;
  /** Why a Secret can't be used, without any of its values. */
  problem?: string;
}

/**
 * The credentials and certificates for the image's registry.
 * @param login folder of a Secret of type kubernetes.io/dockerconfigjson
 * @param certificates folder of a Secret with `ca.crt`, or `tls.crt` and `tls.key`
 */
export function secretsIn(image: Image, { login, certificates }: { login?: string; certificates?: string }): Secrets {
  const found: Partial<Secrets> = login === undefined ? {} : credentialsFor(mountedData(login, KEYS), image);
  const trust = certificates === undefined ? {} : trustOf(mountedData(certificates, KEYS));
  const problems = [found, trust].flatMap((each) => ('problem' in each ? [each.problem] : []));
  return {
    ...(found.credentials && { credentials: found.credentials }),
    ...(certificates !== undefined && !('problem' in trust) && { trust }),
    ...(problems.length > 0 && { problem: problems.join('; ') }),
  };
}
