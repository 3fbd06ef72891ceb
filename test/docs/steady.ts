// What differs from one run of a command to the next, replaced by words. Nothing else about an output may differ.

const VOLATILE: ReadonlyArray<readonly [pattern: RegExp, word: string]> = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time with milliseconds>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>"],
  [/(?<=^Date: ).*GMT/gm, "<date>"],
  // The remaining time of `check`, the column of `list` with its padding, that of `export`, and the uptime: never a lifetime.
  [/(?<=\()(?:\d+[dhms])+(?= left\))/g, "<left>"],
  [/(?<=<time> {2})(?:\d+[dhms])+ +/g, "<left>  "],
  // `denied`: times ago, which are as wide as they are.
  [/ +(?:\d+[dhms])+ ago/g, "  <ago>"],
  [/(?<=^IP.*) {2,}/gm, "  "],
  [/(?<=,temp,)\d+(?=,<time)/g, "<seconds left>"],
  [/(?<= up )(?:\d+[dhms])+$/gm, "<uptime>"],
  [/(?<="uptime":")(?:\d+[dhms])+(?=")/g, "<uptime>"],
]

/** Two outputs of the same command are equal after this. */
export function steady(output: string): string {
  return VOLATILE.reduce((text, [pattern, word]) => text.replace(pattern, word), output)
}
