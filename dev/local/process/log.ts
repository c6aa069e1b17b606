/** Takes one line of progress. */
export type Log = (line: string) => void;

/** Progress goes to stderr: stdout is for what a script reads. */
export const logToStderr: Log = (line) => {
  process.stderr.write(`${line}\n`);
};
