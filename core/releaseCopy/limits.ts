/**
 * What one copy takes: whoever may push to the source may write any manifest. Beyond a limit nothing is copied.
 * docs/reference/limits.md is generated from this table.
 */
export const COPY_LIMITS = {
  /** Bytes of one manifest, and of one list of what refers to it. */
  manifestBytes: 4_194_304,
  /** Manifests of one release, with all that refers to it. */
  manifests: 500,
  /** Bytes of these manifests together: they are held in memory, blobs are not. */
  manifestsBytes: 33_554_432,
  /** Blobs of one release. */
  blobs: 10_000,
  /** Steps from the tag to a manifest: an index in an index, a signature of an SBOM. */
  nesting: 5,
} as const;
