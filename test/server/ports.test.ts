/** Each endpoint answers on the ports that docs/security.md names, and on no other. */
import { describe, expect, it } from 'vitest';
import { codeIn, table } from '../docs/tables.ts';
import { ask, createServerSetup } from './program.ts';

const program = await (await createServerSetup()).start({}, { receiver: true });

const PORTS = ['hooks, 8080', 'webhook, 8443', 'receiver, 9292', 'inputs, 9443', 'health, 8081'] as const;
/** A route of each program: any method finds it, and only a wrong path is 404. Inputs need GET, with a token. */
const PATHS: Record<string, string> = {
  '/hooks/…': '/hooks/gate/sync',
  '/admission/…': '/admission/mutate/gate',
  '/hook/<namespace>/<name>': '/hook/apps/web',
  '/hook/<digest>': `/hook/${'0'.repeat(64)}`,
  '/flagger/…': '/flagger/confirm',
  '/inputs/…': '/inputs/apps/my-app',
};

function status(port: (typeof PORTS)[number], path: string): Promise<number> {
  const overTls = { 'webhook, 8443': program.webhookPort, 'inputs, 9443': program.inputsPort };
  if (port in overTls) {
    const options = { port: overTls[port as keyof typeof overTls], path, ca: program.ca, agent: false } as const;
    return ask(options).then((answer) => answer.status);
  }
  const number = {
    'hooks, 8080': program.hooksPort,
    'receiver, 9292': program.receiverPort,
    'health, 8081': program.healthPort,
  };
  return fetch(`http://127.0.0.1:${number[port as keyof typeof number]}${path}`).then((response) => response.status);
}

describe.each(table('ports'))('$endpoint', (row) => {
  const endpoint = codeIn(row.endpoint);
  const path = PATHS[endpoint] ?? endpoint;

  it.each(PORTS)('%s', async (port) => {
    const answers = endpoint === '/inputs/…' ? 401 : PATHS[endpoint] ? 405 : 200;
    expect(await status(port, path)).toBe(row[port] === 'yes' ? answers : 404);
  });
});
