// How much one import may send.

/** Bytes of the lines of an import; a server answers more with 413. */
export const LARGEST_IMPORT = 64 * 1024 * 1024
