// How much a fault test does: little in every run of the tests, much in `./scripts/test faults`.

/** True in `./scripts/test faults`. The variable is read here and nowhere else. */
export const IS_LONG_FORM = process.env.FAULTS === "long"

/** The first number in every run of the tests, the second in the long form. */
export function rounds(short: number, long: number): number {
  return IS_LONG_FORM ? long : short
}
