// ipgate completion: the script that completes command lines of ipgate in a shell.

import { Argument, Command } from "commander"
import type { CommandEnv } from "../command-env.ts"
import { SCRIPTS, SHELLS, type Shell } from "../completion/shells.ts"

export function completionCommand(env: CommandEnv): Command {
  return new Command("completion")
    .summary("print the completion script for your shell")
    .description(
      "Print the script that completes command lines of ipgate: commands, options, their values, and the entries of the " +
        "lists while the server runs and you can read its token.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices([...SHELLS]))
    .addHelpText(
      "before",
      `Examples:
  ipgate completion bash > ipgate.bash   for ~/.local/share/bash-completion/completions
  ipgate completion zsh > _ipgate        for a folder of $fpath
  ipgate completion fish > ipgate.fish   for ~/.config/fish/completions
`,
    )
    .action((shell: Shell) => {
      env.process.write(SCRIPTS[shell])
    })
}
