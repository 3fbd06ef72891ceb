// Is there such a day? `Date.parse` takes the 31st of February for the 3rd of March.

import { quoted } from "./printable.ts"

/** The reason why the date with which a time begins is no day of the calendar; `null` if it is one, or there is none. */
export function explainDay(time: string): string | null {
  const [date = "", year, month, day] = /^([+-]?\d{4,6})-(\d\d)-(\d\d)/.exec(time) ?? []
  // Every month has that many, and most times of a large import are done here.
  if (Number(day ?? 0) <= 28) return null
  // The calendar repeats itself after 400 years, and `Date.UTC` has another meaning for the first hundred.
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
  return Number(day) <= days ? null : `${quoted(date)} is no day of the calendar`
}
