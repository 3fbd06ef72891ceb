// The program: its global options, its commands, and one place where every error becomes an exit code.

import { Command, CommanderError } from "commander"
import { explainConfig } from "../src/config/config.ts"
import { VERSION_IN_FULL } from "../src/version.ts"
import type { CommandEnv, GlobalOptions, ProcessEnv } from "./command-env.ts"
import { allowCommand } from "./commands/allow.ts"
import { backupCommand } from "./commands/backup.ts"
import { checkCommand } from "./commands/check.ts"
import { completionCommand } from "./commands/completion.ts"
import { configCommand } from "./commands/config.ts"
import { deniedCommand } from "./commands/denied.ts"
import { denyCommand } from "./commands/deny.ts"
import { doctorCommand } from "./commands/doctor.ts"
import { exportCommand } from "./commands/export.ts"
import { importCommand } from "./commands/import.ts"
import { listCommand } from "./commands/list.ts"
import { logsCommand } from "./commands/logs.ts"
import { manpageCommand } from "./commands/manpage.ts"
import { openapiCommand } from "./commands/openapi.ts"
import { proxyCommand } from "./commands/proxy.ts"
import { serveCommand } from "./commands/serve.ts"
import { statusCommand } from "./commands/status.ts"
import { tokenCommand } from "./commands/token.ts"
import { watchCommand } from "./commands/watch.ts"
import { isShell } from "./completion/shells.ts"
import { connect, type OpenGate } from "./connect.ts"
import { EXIT, failureOf, UsageError } from "./exit.ts"
import { Output } from "./output.ts"

/** A command is made for one run, and sees nothing but its environment. */
export type CommandFactory = (env: CommandEnv) => Command

/** By their names, in the order in which help shows them. */
const COMMANDS: Readonly<Record<string, CommandFactory>> = {
  serve: serveCommand,
  allow: allowCommand,
  deny: denyCommand,
  check: checkCommand,
  list: listCommand,
  logs: logsCommand,
  denied: deniedCommand,
  watch: watchCommand,
  status: statusCommand,
  import: importCommand,
  export: exportCommand,
  backup: backupCommand,
  token: tokenCommand,
  proxy: proxyCommand,
  doctor: doctorCommand,
  completion: completionCommand,
  manpage: manpageCommand,
  openapi: openapiCommand,
  config: configCommand,
}

const DESCRIBES_ALL = manpageCommand

const EXAMPLES = `Examples:
  ipgate serve                                     run the gate on 127.0.0.1:8765
  ipgate allow 203.0.113.7 --ttl 8h -r "on call"   let an address in for eight hours
  ipgate allow 192.0.2.0/28                        let a network in until you deny it
  ipgate check 203.0.113.7                         is it let in, and by which entry?
`

const EPILOGUE = `
Exit codes:
  0 done, or already so        1 failed, or "check" says no    2 usage
  3 unchanged (--error-unchanged)    4 token missing or refused
  5 server or database out of reach  78 "serve": configuration invalid
`

/** Runs one command line, without the name of the program. Never throws; returns the exit code. */
export async function run(argv: readonly string[], process: ProcessEnv): Promise<number> {
  const [command, shell, divider, ...words] = argv
  const { program, env, exitCode } = buildProgram(process, command)
  // What a completion script asks. The rest is a line that is being typed, and so no command line for commander.
  if (command === "complete" && isShell(shell) && divider === "--") {
    const { answer } = await import("./completion/answer.ts")
    await answer(program, env, { shell, words })
    return EXIT.done
  }
  try {
    await program.parseAsync(argv, { from: "user" })
    return exitCode()
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const [, topic] = program.args
    const isUnknownTopic =
      error instanceof CommanderError && error.code === "commander.help" && topic !== undefined
    const failure = failureOf(isUnknownTopic ? new UsageError(`unknown command '${topic}'`) : error)
    outputOf(withPriorities(process), { json: argv.includes("--json") }).failure(failure)
    return failure.exitCode
  }
}

/**
 * The tree of commands, for a run and for what is made from it. With the name of a command it has that one alone,
 * because to describe them all takes longer than to run one; any other word gets the whole tree.
 */
export function buildProgram(
  process: ProcessEnv,
  named?: string,
): {
  program: Command
  env: CommandEnv
  exitCode: () => number
} {
  let code: number = EXIT.done
  const program = new Command("ipgate")
  async function connected<T>(use: (opened: OpenGate) => Promise<T>): Promise<T> {
    const opened = await connect(env.options, env.config(), process)
    const { madeDatabaseAt } = opened
    if (madeDatabaseAt !== null) {
      env.out.warn(
        `made a new, empty database ${madeDatabaseAt}, because there was none: nobody is let in yet`,
      )
    }
    try {
      return await use(opened)
    } finally {
      await opened.close()
    }
  }
  const env: CommandEnv = {
    process,
    get options() {
      return program.opts<GlobalOptions>()
    },
    get out() {
      return outputOf(process, program.opts<GlobalOptions>())
    },
    config: (flags) => env.explainedConfig(flags).config,
    explainedConfig: (flags = {}, read = process.readFile) => {
      const { config, server, tokenFile, db } = program.opts<GlobalOptions>()
      const given = Object.entries({ config, server, tokenFile, db, ...flags }).filter(
        ([, value]) => value !== undefined,
      )
      const { environment, userId, isSocket } = process
      return explainConfig({
        flags: Object.fromEntries(given),
        env: environment,
        userId,
        read,
        isSocket,
      })
    },
    withGate: (use) => connected(({ gate }) => use(gate)),
    withTokens: (use) => connected(({ tokens }) => use(tokens)),
    exitWith: (value) => {
      code = value
    },
  }
  program
    .description("An auth gateway that decides by IP address.")
    .version(`ipgate ${VERSION_IN_FULL}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .option("-s, --server <url>", "the server: host:port, a URL, or unix:/path (IPGATE_SERVER)")
    .option("--token-file <file>", "the file with the API token (IPGATE_TOKEN_FILE)")
    .option("--offline", "work on the database directly, while no server runs")
    .option("--db <url>", "the database, for serve and --offline (IPGATE_DB)")
    .option("-c, --config <file>", "the configuration file (IPGATE_CONFIG)")
    .option("--json", "print JSON: a stable contract for programs")
    .option("-q, --quiet", "print nothing but errors")
    .option("--no-color", "no colour (NO_COLOR)")
    .addHelpText("before", EXAMPLES)
    .addHelpText("after", EPILOGUE)
  for (const factory of factoriesFor(named)) program.addCommand(factory(env))
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .helpOption("-h, --help", "print help")
      .showSuggestionAfterError()
      .configureHelp({ showGlobalOptions: command !== program })
      .configureOutput({
        writeOut: (text) => process.write(text),
        // The error itself is printed by run(), once and with its exit code. What is left is the help of a run without a
        // command, which programs cannot read.
        writeErr: (text) => {
          const isHelp = !text.startsWith("error:") && program.args[0] !== "help"
          if (isHelp && !program.opts<GlobalOptions>().json) process.writeError(text)
        },
        getOutHelpWidth: () => helpWidth(process),
        getErrHelpWidth: () => helpWidth(process),
      })
  }
  return { program, env, exitCode: () => code }
}

/** The same process, whose errors the journal files as errors. */
function withPriorities(process: ProcessEnv): ProcessEnv {
  if (process.logFormat() !== "journal") return process
  return { ...process, writeError: (text) => process.writeError(text.replace(/^(?=.)/gm, "<3>")) }
}

/** A command and everything below it. */
function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}

function factoriesFor(named: string | undefined): CommandFactory[] {
  const one = named !== undefined && Object.hasOwn(COMMANDS, named) ? COMMANDS[named] : undefined
  return one === undefined || one === DESCRIBES_ALL ? Object.values(COMMANDS) : [one]
}

function helpWidth({ isTerminal, columns }: ProcessEnv): number {
  return isTerminal ? columns : 80
}

function outputOf({ write, writeError }: ProcessEnv, { json = false, quiet = false }: GlobalOptions): Output {
  return new Output({ write, writeError, json, quiet })
}
