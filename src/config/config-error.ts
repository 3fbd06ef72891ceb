// What a configuration that makes no sense throws.

/** The message has one line for each problem, with the place of each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError"
}
