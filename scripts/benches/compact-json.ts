// JSON that people read and compare: a line for each thing, and not for each figure.

/** As many characters as a line may have, but for a list of figures, which is always one line. */
const WIDTH = 160
/** More digits than a clock has. */
const DIGITS = 6

export function compactJson(value: unknown): string {
  return `${written(value, "")}\n`
}

function written(value: unknown, indent: string): string {
  const line = JSON.stringify(value, (_, item) =>
    isFraction(item) ? Number(item.toPrecision(DIGITS)) : item,
  )
  if (typeof value !== "object" || value === null || line.length <= WIDTH) return line
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item === "number")) return line
    return `[\n${value.map((item) => deeper + written(item, deeper)).join(",\n")}\n${indent}]`
  }
  const fields = Object.entries(value).filter(([, item]) => item !== undefined)
  const texts = fields.map(([name, item]) => `${deeper}${JSON.stringify(name)}: ${written(item, deeper)}`)
  return `{\n${texts.join(",\n")}\n${indent}}`
}

function isFraction(item: unknown): item is number {
  return typeof item === "number" && Number.isFinite(item) && !Number.isInteger(item)
}
