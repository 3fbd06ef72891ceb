// How much one import may send.

/** Bytes of the lines of an import, more than a million IPv6 networks with their text; a server answers more with 413. */
export const LARGEST_IMPORT = 64 * 1024 * 1024
