/** What stands between a client and a registry on a bad day. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { type LocalServer, startLocalServer } from './localServer.ts';

/** Of the first uploads one byte is another. */
export function corruptingProxy(host: string, uploads: number): Promise<LocalServer> {
  let corrupted = 0;
  return startLocalServer((incoming, response) => {
    const { method, url } = incoming;
    const isBad = method === 'PUT' && url!.includes('/uploads/') && corrupted++ < uploads;
    forward(host, incoming, response, (chunk) => {
      if (isBad) chunk[0]! ^= 1;
    });
  });
}

/** Requests to paths like this one are passed on only when they are released. */
export async function holdingProxy(host: string, path: RegExp) {
  const held: (() => void)[] = [];
  let isReleased = false;
  const server = await startLocalServer((incoming, response) => {
    const pass = () => forward(host, incoming, response);
    if (isReleased || !path.test(incoming.url!)) return pass();
    held.push(pass);
  });
  return {
    host: server.host,
    isHolding: () => held.length > 0,
    /** Those that come later are passed on too. */
    release() {
      isReleased = true;
      for (const pass of held.splice(0)) pass();
    },
    close: () => server.close(),
  };
}

function forward(
  host: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  change: (chunk: Buffer) => void = () => {},
): void {
  const { method, url, headers } = incoming;
  const outgoing = request(`http://${host}${url}`, { method: method!, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  const changed = new Transform({
    transform(chunk: Buffer, _, done) {
      change(chunk);
      done(null, chunk);
    },
  });
  incoming.pipe(changed).pipe(outgoing);
}
