// The environment and the files of ipgate, for its page of the manual.

import { CONFIG_KEYS } from "../../src/config/keys.ts"

/** Everything that the configuration reads, then what other parts of the program read. */
export const VARIABLES: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["IPGATE_CONFIG", "the configuration file, as with --config"],
  ["IPGATE_TOKEN", "the token itself: a last resort, because other processes of the same user can read it"],
  ...CONFIG_KEYS.map(({ variable, key, description }) => [variable, `${description} (${key})`] as const),
  ["CREDENTIALS_DIRECTORY", "set by systemd; api-token in it is the token file"],
  ["XDG_STATE_HOME, HOME", "where the state of a user other than root is"],
  ["XDG_CONFIG_HOME", "where the configuration file of a user is"],
  ["NO_COLOR", "no colour, as with --no-color"],
  ["TMPDIR", "where serve and --offline unpack the database driver; it must allow programs to run"],
]

export const FILES: ReadonlyArray<readonly [path: string, meaning: string]> = [
  ["/etc/ipgate/ipgate.toml", "the configuration"],
  ["~/.config/ipgate/config.toml", "the configuration of a user, if the other one does not exist"],
  ["/etc/ipgate/api-token", "the API token of the service that the package installs"],
  ["/run/ipgate/ipgate.sock", "where commands ask that service"],
  ["/var/lib/ipgate/ipgate.db", "the database of that service, and of a server that root has started"],
  ["/var/lib/ipgate/api-token", "the API token that a server of root has made"],
  ["~/.local/state/ipgate", "the directory of database and token for every other user"],
]
