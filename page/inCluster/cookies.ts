/**
 * Sessions without a store, in encrypted cookies. Browsers refuse a cookie with the prefix `__Host-` from other hosts,
 * from plain HTTP, and for only some paths.
 */
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { type FileLog, type SecretFiles, watchSecrets } from '../../server/fileWatch.ts';

/** The longest cookie: browsers keep 4096 bytes, with the name and attributes. */
const MAX_COOKIE_CHARACTERS = 3800;
const MIN_KEY_CHARACTERS = 32;
const ALGORITHM = { alg: 'dir', enc: 'A256GCM' } as const;

/** The cookies by their purpose. A cookie of another purpose is not accepted. */
const COOKIES = {
  session: { name: '__Host-rollouts-session', sameSite: 'Strict' },
  // Lax: the issuer sends the browser back, which is a navigation from another site.
  signIn: { name: '__Host-rollouts-sign-in', sameSite: 'Lax' },
} as const;

export type CookieKind = keyof typeof COOKIES;

interface OpenedCookie {
  content: Record<string, unknown>;
  /** The end of the cookie, in seconds since 1970. */
  expires: number;
}

export interface CookieJar {
  /** The header Set-Cookie with this content; undefined if it is longer than browsers keep. */
  seal(kind: CookieKind, content: Record<string, unknown>): Promise<string | undefined>;
  /** The content of the cookie in a header; undefined if there is none, or it is not ours, expired or changed. */
  open(kind: CookieKind, header: string | undefined): Promise<OpenedCookie | undefined>;
}

interface JarOptions {
  /** The keys: the first one encrypts, and each decrypts. */
  keys: () => readonly Uint8Array[];
  /** Seconds for which a cookie of each kind is valid. */
  seconds: Readonly<Record<CookieKind, number>>;
  now: () => number;
}

export function createCookieJar({ keys, seconds, now }: JarOptions): CookieJar {
  return {
    async seal(kind, content) {
      const at = Math.floor(now() / 1000);
      const text = await new EncryptJWT(content)
        .setProtectedHeader(ALGORITHM)
        .setAudience(kind)
        .setIssuedAt(at)
        .setExpirationTime(at + seconds[kind])
        .encrypt(keys()[0]!);
      return text.length > MAX_COOKIE_CHARACTERS ? undefined : setCookie(kind, text, seconds[kind]);
    },
    async open(kind, header) {
      const text = cookieIn(header, COOKIES[kind].name);
      if (text === undefined || text.length > MAX_COOKIE_CHARACTERS) return undefined;
      for (const key of keys()) {
        try {
          const { payload } = await jwtDecrypt(text, key, {
            audience: kind,
            currentDate: new Date(now()),
            keyManagementAlgorithms: [ALGORITHM.alg],
            contentEncryptionAlgorithms: [ALGORITHM.enc],
            maxTokenAge: seconds[kind],
            requiredClaims: ['exp', 'iat'],
          });
          const { aud: _, iat: __, exp, ...content } = payload;
          return { content, expires: exp! };
        } catch (error) {
          if (!(error instanceof errors.JOSEError)) throw error;
        }
      }
      return undefined;
    },
  };
}

/** The header Set-Cookie that removes the cookie. */
export function clearCookie(kind: CookieKind): string {
  return setCookie(kind, '', 0);
}

function setCookie(kind: CookieKind, value: string, seconds: number): string {
  const { name, sameSite } = COOKIES[kind];
  return `${name}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=${sameSite}`;
}

/** The cookie of this name; undefined if there is none, or several, of which another site may have set one. */
function cookieIn(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((each) => {
    const [key, ...value] = each.trim().split('=');
    return key === name ? [value.join('=')] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** The current key, and the previous one if any, read again when files change. @throws Error for an invalid key */
export function watchKeys(files: SecretFiles, log: FileLog, onChange?: () => void) {
  const tooShort = `has fewer than ${MIN_KEY_CHARACTERS} characters: write one with openssl rand -hex 32`;
  const problemOf = ({ length }: string) => (length < MIN_KEY_CHARACTERS ? tooShort : undefined);
  return watchSecrets(files, { what: 'key of the cookies', problemOf, onChange, log });
}
