/** Two repositories of OCI registries, as the copy command sees them. Implemented in server/copy, handed in by copy/main.ts, types only here. */

/** What a manifest says of something that it refers to, as the OCI image specification has it. */
export interface Descriptor {
  mediaType: string;
  /** `sha256:` or `sha512:` and hexadecimal digits. */
  digest: string;
  /** Bytes. */
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
}

/** A manifest or an index, byte for byte: its digest is that of the bytes. */
export interface StoredManifest {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
}

export interface SourceRepository {
  /** `host/path`, for messages. */
  name: string;
  /** @param reference tag or digest. undefined if the registry has none of it. @throws if the bytes are not of that digest. */
  manifest(reference: string): Promise<StoredManifest | undefined>;
  /** The lists (OCI indexes) of what refers to a manifest, a list per page. undefined if the registry has no referrers API. */
  referrers(digest: string): Promise<Uint8Array[] | undefined>;
}

export interface TargetRepository {
  name: string;
  manifest(reference: string): Promise<StoredManifest | undefined>;
  /** The digest that the registry names for it, without its bytes. */
  digestOf(reference: string): Promise<string | undefined>;
  /** @returns whether the registry lists a manifest with a `subject` by itself. */
  put(reference: string, content: Pick<StoredManifest, 'mediaType' | 'bytes'>): Promise<{ listsReferrers: boolean }>;
}

/** `existed`: the target had it. `absent`: the source does not have it. */
export type BlobOutcome = 'existed' | 'mounted' | 'uploaded' | 'absent';

export interface Repositories {
  source: SourceRepository;
  target: TargetRepository;
  /** Brings a blob to the target, and has seen it there: `digest` and `size` are true of what was sent. */
  copyBlob(blob: Descriptor): Promise<BlobOutcome>;
}
