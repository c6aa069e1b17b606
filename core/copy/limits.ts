/** What one copy takes: whoever may push to the source may write any manifest. Beyond a limit nothing is copied. docs/security.md lists them. */
export const COPY_LIMITS = {
  /** Bytes of one manifest, as registries have it. */
  manifestBytes: 4_194_304,
  /** Manifests of one release, with all that refers to it, and their bytes: they are held in memory. */
  manifests: 500,
  manifestsBytes: 33_554_432,
  /** Blobs of one release. */
  blobs: 10_000,
  /** Steps from the release's tag to a manifest: an index in an index, a signature of an SBOM. */
  nesting: 5,
} as const;
