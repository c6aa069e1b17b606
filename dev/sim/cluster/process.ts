/**
 * Processes of the simulation, each with a clock of its own, that may end at any moment, and the network between them.
 */
import type { UserInfo } from '../../../api/admission.ts';
import type { Connection, ConnectionRequest } from '../../client/kubeconfig.ts';
import type { ApiServer } from '../apiServer/apiServer.ts';
import { targetOf } from '../apiServer/requests.ts';
import type { StoredEvent } from '../apiServer/storage.ts';
import { settled } from '../apiServer/values.ts';
import { ProcessClock, type VirtualTime } from './virtualTime.ts';

/** A process. When it ends, clients that wait for an answer get an error. */
export class Process {
  readonly clock: ProcessClock;
  readonly name: string;
  isAlive = true;
  readonly #atDeath = new Set<(error: Error) => void>();

  constructor(name: string, time: VirtualTime, offset: () => number = () => 0) {
    this.name = name;
    this.clock = new ProcessClock(time, offset);
  }

  end(): void {
    this.isAlive = false;
    this.clock.end();
    for (const reject of this.#atDeath) reject(new Error(`${this.name}: connection reset`));
    this.#atDeath.clear();
  }

  /** The result of the work, or an error if the process ends before. */
  answer<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isAlive) return Promise.reject(new Error(`${this.name}: connection refused`));
    return new Promise((resolve, reject) => {
      this.#atDeath.add(reject);
      work()
        .then(resolve, reject)
        .finally(() => this.#atDeath.delete(reject));
    });
  }
}

export interface Network {
  time: VirtualTime;
  server: ApiServer;
  /** The running process of the API server. */
  serverProcess(): Process;
  /** Milliseconds of the next message. */
  latency(): number;
  /** Time before which events of the resource aren't delivered. */
  heldUntil(resource: string): number;
  /** Calls `drop` when the watches of a resource break; the returned function unsubscribes. */
  onDrop(resource: string, drop: () => void): () => void;
}

/** A promise that never resolves, for a caller that has ended. */
const never = <T>() => new Promise<T>(() => {});

/** A process's connection to the API server. Objects in answers are frozen and shared. */
export function connect(network: Network, process: Process, user: UserInfo): Connection {
  const { time, server } = network;
  const travel = async () => {
    await time.pause(network.latency());
    if (!process.isAlive) await never();
  };
  return {
    now: () => process.clock.now(),
    async request(sent: ConnectionRequest) {
      const request = { ...sent, body: settled(sent.body) };
      await travel();
      const answering = network.serverProcess().answer(() => server.handle(user, request));
      const { code, body } = await answering.catch(async (error) => {
        await travel();
        throw error;
      });
      await travel();
      return { statusCode: code, headers: {}, body };
    },
    async *watch(path: string, signal: AbortSignal) {
      await travel();
      yield* events(network, process, path, signal);
      if (!process.isAlive) await never();
    },
  };
}

async function* events(network: Network, process: Process, path: string, signal: AbortSignal): AsyncGenerator<unknown> {
  const { time, server } = network;
  const target = targetOf(path)!;
  const resource = `${target.kind.group}/${target.kind.resource}`;
  const queue: { event: StoredEvent; at: number }[] = [];
  const state: { end: 'no' | 'closed' | 'broken' } = { end: 'no' };
  let wake = () => {};
  const finish = (how: 'closed' | 'broken') => {
    if (state.end === 'no') state.end = how;
    wake();
  };
  const take = (event: StoredEvent) => {
    if (event.resource !== resource) return;
    queue.push({ event, at: time.now + network.latency() });
    wake();
  };
  const serving = network.serverProcess();
  if (!serving.isAlive) throw new Error(`${serving.name}: connection refused`);
  for (const event of server.eventsOf(target, Number(target.query.get('resourceVersion')))) take(event);
  const unfollow = server.storage.follow(take);
  const undrop = network.onDrop(resource, () => finish('broken'));
  const cancel = time.after(Number(target.query.get('timeoutSeconds') ?? 300) * 1000, () => finish('closed'));
  serving.answer(() => never()).catch(() => finish('broken'));
  process.answer(() => never()).catch(() => finish('closed'));
  signal.addEventListener('abort', () => finish('closed'), { once: true });
  try {
    for (;;) {
      const [next] = queue;
      const ready = next && Math.max(next.at, network.heldUntil(resource));
      if (state.end === 'broken') throw new Error('watch: connection reset');
      if (state.end === 'closed') return;
      if (next && ready! <= time.now) {
        queue.shift();
        yield next.event;
        continue;
      }
      await new Promise<void>((resolve) => {
        const undo = next ? time.after(ready! - time.now, resolve) : () => {};
        wake = () => {
          undo();
          resolve();
        };
      });
    }
  } finally {
    unfollow();
    undrop();
    cancel();
  }
}
