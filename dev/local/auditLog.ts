/** Reads the API server's audit log. */
import { createReadStream } from 'node:fs';

export interface AuditEvent {
  stage: string;
  auditID: string;
  verb: string;
  requestURI: string;
  user: { username: string };
  objectRef?: Record<string, string>;
  responseStatus?: { code?: number };
  requestObject?: { metadata?: { annotations?: Record<string, string | null> } };
  responseObject?: { metadata?: { name?: string; resourceVersion?: string } };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

/** The events of a log, from a byte of the file; undefined for a line without one. */
export async function* auditEvents(file: string, start = 0): AsyncGenerator<AuditEvent | undefined> {
  for await (const line of linesOf(file, start)) yield parse(line);
}

/** The event in a line. A killed API server leaves an incomplete line, which the next one continues. */
function parse(line: string): AuditEvent | undefined {
  for (const begin of [0, line.lastIndexOf('{"kind":"Event"')]) {
    try {
      return JSON.parse(line.slice(begin)) as AuditEvent;
    } catch {}
  }
  return undefined;
}

/** The lines of a file. An incomplete last line is left out. node:readline would split JSON strings at U+2028. */
export async function* linesOf(file: string, start = 0): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', start })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
