// An error as the text of an answer: its message, and its hint on a last line of its own, as the command line prints them.

/** No line of a message may begin with two spaces: that is how the hint is known. */
export function formatErrorText({ message, hint }: { message: string; hint?: string | undefined }): string {
  return hint === undefined ? `${message}\n` : `${message}\n  ${hint}\n`
}

/** The parts of such a text. Any other text is all message. */
export function parseErrorText(text: string): { message: string; hint: string | undefined } {
  const trimmed = text.trim()
  const [, message = trimmed, hint] = /^([\s\S]+)\n {2}(\S.*)$/.exec(trimmed) ?? []
  return { message, hint }
}
