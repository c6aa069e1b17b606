/** A log with a JSON line per message on stderr. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  problem(message: string, fields?: Record<string, unknown>): void;
}

function write(level: 'info' | 'error', message: string, fields: Record<string, unknown> = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, msg: message, ...fields })}\n`);
}

export const stderrLog: Log = {
  info: (message, fields) => write('info', message, fields),
  problem: (message, fields) => write('error', message, fields),
};

/** The message of an error with those of its causes, which is where undici and fetch put the reason. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${reasonOf(error.cause)}`;
  return `${error.message || error.name}${cause}`;
}
