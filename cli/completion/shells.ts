// The shells that can complete command lines of ipgate, and the script for each.

import { BASH } from "./bash.ts"
import { FISH } from "./fish.ts"
import { ZSH } from "./zsh.ts"

export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

/**
 * What the shell loads. All of them ask `ipgate complete SHELL -- WORDS` at each key press, so that a script never has
 * to be made anew. It is the `ipgate` of the path, whatever the line begins with: a key press must not run a program
 * of the current directory.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

export function isShell(text: string | undefined): text is Shell {
  return (SHELLS as readonly (string | undefined)[]).includes(text)
}
