// A word of a shell without its quotes, also when the last one is still open.

/** `"on call"` and `on\ call` are `on call`. Nothing is expanded: variables and commands stay as they were typed. */
export function unquoted(word: string): string {
  let text = ""
  let quote = ""
  for (let i = 0; i < word.length; i++) {
    const character = word[i] as string
    if (character === quote) quote = ""
    else if (quote === "" && (character === '"' || character === "'")) quote = character
    else if (character === "\\" && quote !== "'") text += word[++i] ?? ""
    else text += character
  }
  return text
}
