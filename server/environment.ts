/** Reads environment variables. An empty one counts as absent. */
import { isLogLevel, LOG_LEVELS, type LogLevel } from './log.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigError extends Error {}

/** A reader that collects what is wrong in `mistakes`, so that all of it is reported together. */
export function environmentReader(env: Environment) {
  const mistakes: string[] = [];
  const number = (name: string, fallback: number, least: number, most: number) => {
    const value = Number(env[name] || fallback);
    if (!(Number.isInteger(value) && value >= least && value <= most))
      mistakes.push(`${name}=${env[name]} is not a whole number from ${least} to ${most}`);
    return value;
  };
  const oneOf = <Value extends string>(name: string, values: readonly [Value, ...Value[]]): Value => {
    const value = values.find((each) => each === (env[name] || values[0]));
    if (value === undefined) mistakes.push(`${name}=${env[name]} is not one of ${values.join(', ')}`);
    return value ?? values[0];
  };
  return {
    mistakes,
    number,
    port: (name: string, fallback: number) => number(name, fallback, 0, 65_535),
    /** The value; the first one if the variable is absent. */
    oneOf,
    flag: (name: string) => oneOf(name, ['false', 'true']) === 'true',
    logLevel(): LogLevel {
      const level = env.LOG_LEVEL || 'info';
      if (!isLogLevel(level)) mistakes.push(`LOG_LEVEL=${level} is not one of ${LOG_LEVELS.join(', ')}`);
      return level as LogLevel;
    },
    /** The values between commas. */
    list: (name: string, fallback = '') =>
      (env[name] || fallback)
        .split(',')
        .map((each) => each.trim())
        .filter(Boolean),
    /** @throws ConfigError with all mistakes */
    refuseMistakes() {
      if (mistakes.length > 0) throw new ConfigError(mistakes.join('; '));
    },
  };
}
