// What a bulk file is understood to say: the lines that go to the gate, or every bad line with its number.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { BulkFormat } from "../../cli/bulk/bulk-format.ts"
import { type ReadOptions, readBulk } from "../../cli/bulk/read-bulk.ts"
import { UsageError } from "../../cli/exit.ts"

const NOW = Date.UTC(2026, 0, 1)

/** The lines for the gate, or the words of the refusal. */
function read(format: BulkFormat, input: string | Uint8Array, options: Partial<ReadOptions> = {}) {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input
  const name = "the file"
  const given = { format, name, now: NOW, ttlSeconds: null, reason: null, force: false, progress: () => {} }
  try {
    const { lines } = readBulk(bytes, { ...given, ...options })
    return new TextDecoder().decode(lines).split("\n").slice(0, -1)
  } catch (cause) {
    if (cause instanceof UsageError) return cause.message
    throw cause
  }
}

/** The refusal of a file with these bad lines or entries. */
function bad(...problems: readonly string[]): string {
  const what = problems[0]?.startsWith("entry") ? ["entry", "entries"] : ["line", "lines"]
  const count = `${problems.length} bad ${what[problems.length === 1 ? 0 : 1]}`
  return [`the file: ${count}, nothing was changed`, ...problems].join("\n")
}

describe("a line ends at CR, LF or CRLF, whichever program wrote the file", () => {
  const BREAK = fc.constantFrom("\r", "\n", "\r\n")
  const ADDRESS = fc.integer({ min: 0, max: 255 }).map((last) => `192.0.2.${last}`)

  test.each(["values", "csv"] as const)(
    "%s: no address is lost or altered, and each is on its line",
    (format) => {
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.oneof(ADDRESS, fc.constantFrom("", "# x", '# "', "bad")), BREAK)),
          fc.tuple(BREAK, fc.boolean()),
          (lines, [first, isLastEnded]) => {
            const head = format === "csv" ? "ip" : "192.0.2.1"
            const text = head + first + lines.flat().join("")
            const whole = isLastEnded ? text : text.replace(/[\r\n]+$/, "")
            const found = whole.split(/\r\n|\r|\n/).slice(format === "csv" ? 1 : 0)
            const offset = format === "csv" ? 2 : 1
            const wrong = found.flatMap((line, i) =>
              line === "bad" ? [`line ${i + offset}: "bad" is not an IP address or CIDR`] : [],
            )
            const good = found.filter((line) => line.startsWith("192"))
            const expected =
              wrong.length > 0
                ? bad(...wrong)
                : good.length > 0
                  ? good
                  : "the file holds no entry, and nothing was changed"
            expect(read(format, whole)).toEqual(expected)
          },
        ),
        { numRuns: 500 },
      )
    },
  )

  test("inside of quotes it is a part of the field", () => {
    for (const end of ["\r", "\n", "\r\n"]) {
      expect(read("csv", `ip${end}"192.0.2.1${end}192.0.2.2"${end}bad${end}`)).toBe(
        bad(
          `line 2: "192.0.2.1${end.replace("\r", "\\x0d").replace("\n", "\\x0a")}192.0.2.2" is not an IP address or CIDR: give one address at a time`,
          'line 4: "bad" is not an IP address or CIDR',
        ),
      )
    }
  })
})

describe("a comment in CSV", () => {
  test("is a line that begins with #, before the header and where the addresses come first", () => {
    expect(read("csv", '# it\'s "\nip,ttl\n#192.0.2.1,1h\n  # "quoted\n192.0.2.2,\n')).toEqual(["192.0.2.2"])
  })

  test.each(["#1,192.0.2.1,60", '"#1",192.0.2.1,60'])("is no row with another first column: %s", (row) => {
    expect(read("csv", `reason,ip,ttl\n${row}\n`)).toEqual([
      expect.stringMatching(/^192\.0\.2\.1\t.*\t#1$/) as unknown as string,
    ])
  })

  test("is no line there either, but a bad one", () => {
    expect(read("csv", "reason,ip,ttl\n# note\n")).toBe(bad("line 2: there are fewer fields than columns"))
  })

  test("is nothing in quotes", () => {
    expect(read("csv", 'ip\n"#192.0.2.1"\n')).toBe(bad('line 2: "#192.0.2.1" is not an IP address or CIDR'))
  })
})

describe("every bad line of a CSV is named", () => {
  test("also behind one with too many fields or too few, or a broken quote", () => {
    const input = [
      "ip,ttl,reason",
      "192.0.2.1,1h,a,b",
      "192.0.2.2,1h",
      '192.0.2.3,1h,"Ann "the boss" Smith"',
      "192.0.2.4,soon,",
      '192.0.2.5,1h,"never closed',
      "192.0.2.6,,",
      '""',
      "192.0.2.300,,",
    ]
    expect(read("csv", input.join("\r\n"))).toBe(
      bad(
        "line 2: there are more fields than columns",
        "line 3: there are fewer fields than columns",
        "line 4: there is text after a closing quote; a quote inside of quotes is written twice",
        'line 5: "soon" is no lifetime: use 8h, a number of seconds, or a time like 2026-11-21T18:00:00Z',
        "line 6: a quote is never closed",
        "line 8: there are fewer fields than columns",
        'line 9: "192.0.2.300" is not an IP address or CIDR: IPv4 has four decimal numbers from 0 to 255, without leading zeros',
      ),
    )
  })

  test("a quote that is lost swallows no more than a field can hold", () => {
    const rows = Array.from({ length: 300 }, (_, i) => `10.0.${i}.1\n`).join("")
    expect(read("csv", `ip\n"10.0.0.1\n${rows.slice(0, 2700)}bad\n"10.0.0.2"\n`)).toContain("\nline 2: ")
    const long = `ip\n"10.0.0.1\n${"10.0.0.2\n".repeat(500)}bad\n"10.0.0.3"\n`
    expect(read("csv", long)).toBe(
      bad(
        "line 2: a quote is not closed within 4096 characters",
        'line 503: "bad" is not an IP address or CIDR',
      ),
    )
    expect(read("csv", 'ip\n"10.0.0.1\nbad\n')).toBe(
      bad("line 2: a quote is never closed", 'line 3: "bad" is not an IP address or CIDR'),
    )
  })

  test.each([
    ["ip,ttl,TTL", "ttl is there twice"],
    ["ip, IP", "ip is there twice"],
    ["ip,note", '"note" is none'],
    ["ip,expire", '"expire" is none; did you mean expires?'],
    ["ttl", "there is no ip"],
  ])("the header %s is refused", (header, reason) => {
    expect(read("csv", `${header}\n192.0.2.1,,\n`)).toBe(
      bad(
        `line 1: the first line must name the columns: ip, and of list, ttl, expires, reason those that are there; ${reason}`,
      ),
    )
  })

  test("rows are read as they were written, quoted or not", () => {
    const field = fc.stringMatching(/^[a-z",#' ]{1,12}$/)
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), fc.constantFrom("\n", "\r\n", "\r"), (reasons, end) => {
        const row = (reason: string, i: number) =>
          `"${reason.replaceAll('"', '""')}",60,192.0.2.${i % 256}${end}`
        const lines = read("csv", `reason,ttl,ip${end}${reasons.map(row).join("")}`) as string[]
        expect(lines.map((line) => line.split("\t")[2])).toEqual(reasons)
      }),
    )
  })
})

describe("JSON says nothing that is passed over", () => {
  const MEMBER = "is no member of an entry"
  const KNOWN = "which has ip, list, ttl, expires, reason"

  test.each([
    [{ ip: "192.0.2.1", TTL: 60 }, `"TTL" ${MEMBER}; did you mean ttl?`],
    [{ ip: "192.0.2.1", expire: "2027-01-01T00:00:00Z" }, `"expire" ${MEMBER}; did you mean expires?`],
    [{ ip: "192.0.2.1", ttl_second: 60 }, `"ttl_second" ${MEMBER}; did you mean ttl_seconds?`],
    [{ ip: "192.0.2.1", created: "2026-01-01T00:00:00Z" }, `"created" ${MEMBER}, ${KNOWN}`],
    [{ ip: "192.0.2.1", note: null }, `"note" ${MEMBER}, ${KNOWN}`],
    [{ ip: "192.0.2.1", allowed: true, matched_by: null }, `"allowed" ${MEMBER}, ${KNOWN}`],
    [{ ip: "192.0.2.1", ttl: 60, ttl_seconds: 90 }, "ttl is there twice, under two names: leave one out"],
    [{ ip: ["192.0.2.1"] }, "ip must be a text, and not an array"],
    [{ ip: 7 }, "ip must be a text, and not a number"],
    [{ ip: "192.0.2.1", ttl: [3600] }, "ttl must be a text or a number, and not an array"],
    [{ ip: "192.0.2.1", ttl: true }, "ttl must be a text or a number, and not true"],
    [{ ip: "192.0.2.1", ttl: 60, reason: { a: 1 } }, "reason must be a text, and not an object"],
    [{ ip: "192.0.2.1", list: 1 }, "list must be a text, and not a number"],
    [{ ip: "192.0.2.1", list: "" }, 'the list must be perm or temp, not ""'],
    [{ ttl: 60 }, "ip is missing"],
    [{ ip: null }, "ip is missing"],
    [["192.0.2.1"], "an entry is an address, or an object with ip, and not an array"],
    [null, "an entry is an address, or an object with ip, and not null"],
  ])("%j", (item, problem) => {
    expect(read("json", JSON.stringify([item]))).toBe(bad(`entry 1: ${problem}`))
  })

  test.each(["ttl", "expires", "ttl_seconds", "expires_at"])("an empty %s is no lifetime", (member) => {
    expect(read("json", JSON.stringify([{ ip: "192.0.2.1", [member]: "" }]))).toContain(
      'entry 1: "" is no lifetime',
    )
  })

  test("names of the API mean what they mean there, and null says nothing", () => {
    const items = [
      { ip: "192.0.2.1", ttl_seconds: 60, reason: null },
      { list: "temp", ip: "192.0.2.2", expires_at: "2026-01-01T00:01:00.000Z", reason: "" },
      { list: "perm", ip: "192.0.2.3", ttl: null, expires: null, reason: null },
    ]
    const lines = read("json", JSON.stringify(items)) as string[]
    expect(lines.map((line) => line.split("\t")[0])).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"])
    expect(lines.map((line) => line.includes("\t"))).toEqual([true, true, false])
  })
})

test.each([
  ["csv", "ip,ttl,expires\n192.0.2.1,soon,2026-01-02T00:00:00Z\n", "line 2"],
  ["json", '[{"ip":"192.0.2.1","ttl":0,"expires":"2026-01-02T00:00:00Z"}]', "entry 1"],
] as const)("%s: a bad lifetime is refused beside a good end", (format, input, where) => {
  expect(read(format, input)).toMatch(new RegExp(`${where}: "(soon|0)" is no lifetime`))
})

test("a duration goes to the gate as seconds and an end as a time, so that the clock of the client does not count", () => {
  const input =
    "ip,ttl,expires\n192.0.2.1,1d,\n192.0.2.2,9,2026-01-02T00:00:00.123456Z\n192.0.2.3,,90s\n192.0.2.4,,\n"
  expect(read("csv", input, { ttlSeconds: 3600 })).toEqual([
    "192.0.2.1\t86400",
    "192.0.2.2\t2026-01-02T00:00:00.123Z",
    "192.0.2.3\t90",
    "192.0.2.4\t3600",
  ])
})

test("of very many bad lines the first 100000 are named, and the others counted", () => {
  const refusal = (read("values", "x\n".repeat(100_002)) as string).split("\n")
  expect(refusal[0]).toBe("the file: 100002 bad lines, nothing was changed")
  expect(refusal.slice(-2)).toEqual(['line 100000: "x" is not an IP address or CIDR', "and 2 more"])
  expect(refusal).toHaveLength(100_002)
})

describe("what is no text is named with its first line", () => {
  const bytes = (...parts: ReadonlyArray<string | number>) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))))

  test.each([
    ["Latin-1", bytes("ip,ttl,reason\r\n192.0.2.1,1h,ü\r192.0.2.2,1h,B", 0xfc, "ro\n", 0xff, "\n"), 3],
    ["a text that is cut short", bytes("192.0.2.1\n#", 0xc3), 2],
  ])("%s", (_, input, line) => {
    expect(read("csv", input)).toBe(
      `the file is not UTF-8 text: the first byte that cannot be read is on line ${line}`,
    )
  })

  test.each([
    ["a NUL", bytes("192.0.2.1\n\n192.0.2", 0, "\n", 0), 3],
    ["UTF-16", bytes(0xff, 0xfe, "1", 0, "\n", 0), 1],
    ["UTF-16 with the other half first", bytes(0xfe, 0xff, 0, "1", 0, "\n"), 1],
    ["UTF-16 without a mark", bytes("1", 0, "\n", 0), 1],
  ])("%s", (_, input, line) => {
    expect(read("csv", input)).toBe(
      `the file is not UTF-8 text: there is a byte of zero on line ${line}, as in UTF-16`,
    )
  })
})

describe("a fault of the JSON is named with its line and its entry", () => {
  test.each([
    ['["192.0.2.1",\n"192.0.2.2"\n"192.0.2.3"]', "line 2: not valid JSON: entry 2: "],
    ['[\n{"ip":"192.0.2.1"},\r\n{"ip":"192.0.2.2",},\n"x"]', "line 3: not valid JSON: entry 2: "],
    ['["192.0.2.1",\r{ip:"192.0.2.2"}]', "line 2: not valid JSON: entry 2: "],
    ['["192.0.2.1",\n\n,"192.0.2.2"]', "line 3: not valid JSON: there is no entry beside a comma"],
    ['["192.0.2.1",\n]', "line 2: not valid JSON: there is no entry beside a comma"],
    ['["192.0.2.1",\n"192.0.2.2"', "line 2: not valid JSON: entry 2 or the array is not closed"],
    ['["192.0.2.1"]\n["192.0.2.2"]', "line 2: not valid JSON: something follows the array"],
    ['{"ip":"192.0.2.1"}\n{"ip":"192.0.2.2"}', "the JSON must be an array"],
  ])("%j", (input, words) => {
    const refusal = read("json", input)
    expect(refusal).toStartWith(`the file: 1 bad entry, nothing was changed\n${words}`)
  })

  test("also far behind the beginning", () => {
    const items = Array.from({ length: 20_000 }, (_, i) => `{"ip":"10.0.${i >> 8}.${i & 255}"}`)
    items[15_000] = '{"ip":"192.0.2.1"'
    expect(read("json", `[\n${items.join(",\n")}\n]`)).toContain("\nline 15002: not valid JSON: entry 15001")
  })
})
