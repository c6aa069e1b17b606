/** Faulty proxies between a client and a registry. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { startLocalServer } from './localServer.ts';

/** Requests whose path matches are delayed until they are released. */
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
    /** Passes on held connections, and all later ones. */
    release() {
      isReleased = true;
      for (const pass of held.splice(0)) pass();
    },
    close: () => server.close(),
  };
}

function forward(host: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = incoming;
  const outgoing = request(`http://${host}${url}`, { method: method!, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
