/** One line of JSON per message, on standard error. No request bodies: they can carry what Git or a Secret put there. */
import { type Logger, pino } from 'pino';

export type { Logger };

export function createLog(level: string): Logger {
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
