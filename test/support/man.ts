// The programs that show and check pages of the manual; each is `null` where it is not installed.

export const GROFF = Bun.which("groff")
export const MAN = Bun.which("man")
export const MANDOC = Bun.which("mandoc")

for (const [name, path, install] of [
  ["groff", GROFF, "groff-base"],
  ["man", MAN, "man-db"],
  ["mandoc", MANDOC, "mandoc"],
] as const) {
  if (path === null) {
    console.error(
      `${name} is missing, so what it says of the manual was left out. Install it with: apt-get install ${install}`,
    )
  }
}
