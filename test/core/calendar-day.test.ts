// Days that the calendar has, and those that only `Date.parse` has.

import { expect, test } from "bun:test"
import { explainDay } from "../../src/core/calendar-day.ts"
import { endOf, parseEntryLine } from "../../src/core/entry-line.ts"

const NOW = Date.UTC(2026, 0, 1)

test.each([
  "0000",
  "0004",
  "0100",
  "1900",
  "1969",
  "2000",
  "2023",
  "2024",
  "2100",
  "9999",
  "-000004",
  "+010000",
])("of the year %s, every day from 01 to 31 is known or is not", (year) => {
  for (let month = 1; month <= 12; month++) {
    for (let day = 1; day <= 31; day++) {
      const date = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
      const isDay = new Date(`${date}T00:00Z`).toISOString().startsWith(date)
      for (const time of [date, `${date}T12:00:00Z`, `${date} 23:59`]) {
        expect([time, explainDay(time)]).toEqual([time, isDay ? null : `"${date}" is no day of the calendar`])
      }
    }
  }
})

test.each(["", "18:00", "8h", "31", "2026-02", "tomorrow"])("%j names no day", (text) => {
  expect(explainDay(text)).toBeNull()
})

test.each(["2027-02-29", "2027-02-31", "2027-04-31", "2027-06-31"])("no entry ends on %s", (date) => {
  for (const rest of ["T00:00:00Z", "T23:59:59.999+14:00", "T00:00:00-12:00"]) {
    expect(endOf(date + rest, NOW)).toBeNull()
    expect(parseEntryLine(`192.0.2.1\t${date}${rest}`, NOW)).toBe(`"${date}" is no day of the calendar`)
  }
})

test("no entry ends at an hour that RFC 3339 does not have", () => {
  for (const time of ["T24:00:00Z", "T24:00:00.000+02:00", "T25:00:00Z"]) {
    expect(endOf(`2027-01-01${time}`, NOW)).toBeNull()
  }
})

test("an entry may end on the last day of a month", () => {
  for (const date of ["2028-02-29", "2027-04-30", "2027-12-31"]) {
    expect(endOf(`${date}T00:00:00Z`, NOW)).toBe(Date.parse(`${date}T00:00:00Z`))
  }
})
