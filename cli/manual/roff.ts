// A page of the manual in roff, by the macros of man(7): what is given is text, and comes out as it is.

const WIDTH = 78

/** Characters that roff would take for something else, or would draw as another. */
const SPECIAL: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
  '"': "\\(dq",
}

/** Plain text on its way into a line of text, or into an argument of a macro. */
export function escaped(text: string): string {
  return text.replace(/[\\\-'`^~"]|[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return SPECIAL[character] ?? `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`
  })
}

/** A few words of the help as a sentence. A name at its beginning stays as it is. */
export function sentence(text: string): string {
  const begun = text.replace(/^[a-z](?=[a-z]*(?:[ ,;]|$))/, (letter) => letter.toUpperCase())
  return escaped(begun.endsWith("?") ? begun : `${begun}.`)
}

export function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`
}

export function italic(text: string): string {
  return `\\fI${escaped(text)}\\fR`
}

export type PageTitle = {
  /** `ipgate-allow` */
  readonly name: string
  readonly section: 1 | 5
  readonly date: string
  /** What it belongs to: `ipgate 0.1.0`. */
  readonly source: string
}

/** Built from top to bottom. What is called `roff` is escaped already; everything else is plain text. */
export class Page {
  private readonly lines: string[] = []

  constructor({ name, section, date, source }: PageTitle) {
    const title = [name.toUpperCase(), String(section), date, source, "ipgate manual"]
    this.lines.push(
      // A date counts as one only with plain hyphens.
      `.TH ${title.map((part) => `"${escaped(part).replaceAll("\\-", "-")}"`).join(" ")}`,
      // Commands are to be copied: no hyphens that the terminal puts in, no lines drawn apart.
      ".nh",
      ".ad l",
    )
  }

  section(title: string): this {
    this.lines.push(`.SH ${escaped(title)}`)
    return this
  }

  /** A paragraph; each sentence begins a line, as man(7) wants it. */
  text(text: string): this {
    return this.roff(escaped(text))
  }

  roff(roff: string): this {
    if (!/^\.S[HS] /.test(this.lines.at(-1) ?? "")) this.lines.push(".PP")
    this.lines.push(...filled(roff))
    return this
  }

  /** A term and below it what it means. */
  item(roffTerm: string, roffMeaning: string): this {
    this.lines.push(".TP", guarded(roffTerm), ...filled(roffMeaning))
    return this
  }

  /** Lines that stay as they are. */
  verbatim(lines: readonly string[]): this {
    if (!/^\.S[HS] /.test(this.lines.at(-1) ?? "")) this.lines.push(".PP")
    this.lines.push(".EX", ...lines.map((line) => guarded(escaped(line))), ".EE")
    return this
  }

  toString(): string {
    return `${this.lines.join("\n")}\n`
  }
}

/** Text in lines of the source, none of which roff can take for a request. */
function filled(roff: string): string[] {
  return roff.split(/(?<=[.?]) (?=[A-Z])/).flatMap((sentence) => {
    const lines: string[] = []
    for (const word of sentence.split(" ")) {
      const last = lines.at(-1)
      if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word)
      else lines[lines.length - 1] = `${last} ${word}`
    }
    return lines.map(guarded)
  })
}

function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line
}
