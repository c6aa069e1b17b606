/** Paths below the root of this repository, and their texts. */
export type Generated = readonly (readonly [path: string, text: string])[];
