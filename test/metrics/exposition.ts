// Reads the text that Prometheus collects, strictly: what is no sample and no comment is a failure.

export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export type Exposition = {
  readonly samples: readonly Sample[]
  /** The type of each metric family that is named. */
  readonly types: ReadonlyMap<string, string>
  /** The value of the one sample with exactly these labels. */
  value(name: string, labels?: Readonly<Record<string, string>>): number
}

const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/

export function readExposition(text: string): Exposition {
  const samples: Sample[] = []
  const types = new Map<string, string>()
  for (const line of text.split("\n")) {
    const [, family, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (family !== undefined && type !== undefined) types.set(family, type)
    if (line === "" || line.startsWith("# ")) continue
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? []
    if (name === undefined) throw new Error(`no sample: ${line}`)
    samples.push({ name, labels: readLabels(labels), value: Number(value) })
  }
  return {
    samples,
    types,
    value: (name, labels = {}) => {
      const found = samples.filter((one) => one.name === name && Bun.deepEquals(one.labels, labels))
      if (found.length !== 1)
        throw new Error(`${found.length} samples of ${name} with ${JSON.stringify(labels)}`)
      return (found[0] as Sample).value
    },
  }
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== ""; ) {
    const [whole, name, value] = LABEL.exec(rest) ?? []
    if (whole === undefined || name === undefined || value === undefined)
      throw new Error(`no labels: ${text}`)
    labels[name] = value
    rest = rest.slice(whole.length)
  }
  return labels
}
