/** A replica that ends during requests of clients that keep their connections as the API server does. */
import { Agent } from 'node:https';
import { expect, it } from 'vitest';
import { waitFor } from '../../dev/local/process/waitFor.ts';
import { admit, answersNothing, ask, createServerSetup, fluxReview, type Program } from './program.ts';

const CLIENTS = 8;

let apiServer = answersNothing;
const setup = await createServerSetup((request, response) => apiServer(request, response));

const isReady = async (program: Program) => {
  const options = { port: program.webhookPort, path: '/readyz', ca: program.ca, agent: false } as const;
  return ask(options).then(
    ({ status }) => status === 200,
    () => false,
  );
};

const accepts = (program: Program) =>
  admit(program, { agent: false }).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ECONNREFUSED',
  );

const start = () => setup.start({ SHUTDOWN_DELAY_SECONDS: '2' });
const [old, next] = [await start(), await start()];

it('a rolling restart fails no admission request', async () => {
  let ended = false;
  const failures: string[] = [];
  let answered = 0;
  let answeredByNext = 0;

  async function client(): Promise<void> {
    const agents = new Map([old, next].map((program) => [program, new Agent({ keepAlive: true, maxSockets: 1 })]));
    let mine: Program = old;
    while (!ended) {
      const agent = agents.get(mine)!;
      const hasConnection = Object.keys(agent.freeSockets).length > 0;
      // As a Service does: new connections go to ready Pods, and a kept one is used as long as it is open.
      if (!hasConnection) mine = (await isReady(old)) ? old : next;
      try {
        const { status, text } = await admit(mine, { agent: agents.get(mine)! });
        if (status !== 200) failures.push(`${status} ${text}`);
      } catch (error) {
        failures.push((error as Error).message);
      }
      answered++;
      if (mine === next) answeredByNext++;
    }
    for (const agent of agents.values()) agent.destroy();
  }

  const clients = Array.from({ length: CLIENTS }, client);
  await waitFor(() => answered >= 50, '50 answers');
  old.process.kill('SIGTERM');
  expect(await old.exited).toBe(0);
  const before = answeredByNext;
  await waitFor(() => answeredByNext >= before + 50, '50 answers of the next Pod');
  ended = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
});

it('a request that is running at the end is answered, and no other is accepted', async () => {
  const { promise: asked, resolve: reached } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  apiServer = async (request, response) => {
    const { url } = request;
    if (url === '/version') return answersNothing(request, response);
    reached();
    await released;
    const isList = url?.includes('labelSelector=');
    response.writeHead(isList ? 200 : 404).end('{"items":[]}');
  };
  const agent = new Agent({ keepAlive: true });
  const options = { port: next.webhookPort, path: '/admission/mutate/flux', ca: next.ca, agent };
  const answer = ask(options, JSON.stringify(fluxReview()));
  await asked;
  next.process.kill('SIGTERM');
  await waitFor(async () => !(await accepts(next)), 'no connection is accepted');
  release();
  expect((await answer).status).toBe(200);
  expect(await next.exited).toBe(0);
  expect(Object.keys(agent.freeSockets)).toEqual([]);
  agent.destroy();
});
