/** The ports of the copy command, types only: server/copy implements them, copy/main.ts connects them. */

/** A manifest's reference to a blob or to another manifest: the descriptor of the OCI image specification. */
export interface Descriptor {
  mediaType: string;
  /** `sha256:` or `sha512:` and hexadecimal digits. */
  digest: string;
  /** Bytes. */
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
}

/** A manifest or an index, byte for byte. Its digest is that of the bytes. */
export interface StoredManifest {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
}

export interface SourceRepository {
  /** `host/path`, for messages. */
  name: string;
  /** The manifest of a tag or digest; undefined if the registry lacks it. @throws if the bytes have another digest */
  manifest(reference: string): Promise<StoredManifest | undefined>;
  /** The lists (OCI indexes) of a manifest's referrers, one a page; undefined: the registry has no referrers API. */
  referrers(digest: string): Promise<Uint8Array[] | undefined>;
}

export interface TargetRepository {
  name: string;
  manifest(reference: string): Promise<StoredManifest | undefined>;
  /** The manifest's digest by the registry's header, without its bytes. */
  digestOf(reference: string): Promise<string | undefined>;
  /** Stores a manifest. `listsReferrers`: the registry itself lists a manifest that has a `subject`. */
  put(reference: string, content: Pick<StoredManifest, 'mediaType' | 'bytes'>): Promise<{ listsReferrers: boolean }>;
}

/** `existed`: the target had it. `absent`: the source does not have it. */
export type BlobOutcome = 'existed' | 'mounted' | 'uploaded' | 'absent';

export interface Repositories {
  source: SourceRepository;
  target: TargetRepository;
  /** Copies a blob to the target, and verifies that the target has it with that digest and size. */
  copyBlob(blob: Descriptor): Promise<BlobOutcome>;
}
