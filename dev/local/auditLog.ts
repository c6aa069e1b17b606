/** Reads the API server's audit log. */
import { fileLines } from '../../connection/read/fileLines.ts';

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
  for await (const line of fileLines(file, { start, isBeingWritten: true })) yield parse(line);
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
