/**
 * The endpoint `GET /inputs/<namespace>/<rollout>`: the deployed version of a Rollout, for a ResourceSetInputProvider
 * of type ExternalService.
 * No answer has an empty list: after an error Flux Operator keeps its inputs, but after an empty list it deletes what
 * it applied.
 */
import express, { type Express } from 'express';
import type { UserInfo } from '../api/admission.ts';
import { ROLLOUTS } from '../api/kinds.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { InputsPorts } from '../api/ports.ts';
import type { Rollout } from '../api/types.ts';
import { groupOf, refKey, shortHash } from '../core/kube/names.ts';
import { type DeployedInput, deployedInput } from '../core/receiver/deployedInput.ts';
import { withCommands } from '../core/text/commands.ts';
import { shell } from '../core/text/shell.ts';
import { createCallLimit, MAX_LINES_PER_MINUTE } from './answerCall.ts';
import { countRequests, handleFailure, RECEIVER_LIMITS } from './index.ts';

/**
 * The audience of accepted tokens: a token for the API server isn't accepted here, and the API server doesn't accept
 * these.
 */
const INPUTS_AUDIENCE = 'rollout-hooks';

const PATH = '/inputs/:namespace/:rollout';
const MAX_KNOWN_TOKENS = 1000;
/** The key of all callers whose token was never accepted: each of their requests costs a TokenReview. */
const UNKNOWN_USER = '';

interface Answer {
  status: 200 | 401 | 403 | 404 | 409 | 429 | 503;
  body: { inputs: [DeployedInput] } | { error: string };
  retryAfterSeconds?: number;
}

const refusal = (status: Exclude<Answer['status'], 200>, error: string, retryAfterSeconds?: number): Answer => ({
  status,
  body: { error },
  ...(retryAfterSeconds && { retryAfterSeconds }),
});

export function createInputs(ports: InputsPorts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(countRequests(ports.metrics));
  const answerTo = createAnswerer(ports);

  app.get(PATH, async ({ params, headers }, response) => {
    const ref = { namespace: params.namespace!, name: params.rollout! };
    const { status, body, retryAfterSeconds } = await answerTo(headers.authorization, ref);
    if (retryAfterSeconds) response.set('Retry-After', String(retryAfterSeconds));
    response.status(status).json(body);
  });
  app.all(PATH, (_request, response) => void response.set('Allow', 'GET').status(405).end());
  app.use((_request, response) => void response.status(404).end());
  app.use(handleFailure(ports));
  return app;
}

function createAnswerer(
  ports: InputsPorts,
): (authorization: string | undefined, ref: NamespacedName) => Promise<Answer> {
  const isWithinLimit = createCallLimit(ports.now, RECEIVER_LIMITS.inputsPerMinute);
  const isLogged = createCallLimit(ports.now, MAX_LINES_PER_MINUTE);
  /** User names by the hash of their token, used only for the limit: each request still costs a TokenReview. */
  const known = new Map<string, string>();

  return async (authorization, ref) => {
    const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (!token) {
      return refusal(
        401,
        `a token of Kubernetes for the audience ${INPUTS_AUDIENCE} is required as Authorization: Bearer`,
      );
    }
    const hash = shortHash(token);
    if (!isWithinLimit(known.get(hash) ?? UNKNOWN_USER)) {
      return refusal(429, `more than ${RECEIVER_LIMITS.inputsPerMinute} requests in a minute`, 60);
    }
    try {
      const user = await ports.tokens.userOf(token, INPUTS_AUDIENCE);
      if (!user) {
        known.delete(hash);
        return refusal(
          401,
          `the API server doesn't accept the token for the audience ${INPUTS_AUDIENCE}: it may have expired`,
        );
      }
      if (known.size >= MAX_KNOWN_TOKENS) known.clear();
      known.set(hash, user.username);
      return await answerFor(user, ref, ports);
    } catch (error) {
      const { code, reason } = error as { code?: number; reason?: string };
      // Without the error's text, which may contain the token.
      if (isLogged('')) ports.log.error({ code, reason }, 'inputs: the API server failed');
      return refusal(503, 'the API server did not answer: try again', 5);
    }
  };
}

async function answerFor(user: UserInfo, ref: NamespacedName, { access, cluster }: InputsPorts): Promise<Answer> {
  const { resource, apiVersion } = ROLLOUTS;
  const what = { verb: 'get', group: groupOf(apiVersion), resource, ...ref };
  if (!(await access.may(user, what)))
    return refusal(403, `${user.username} isn't allowed to get Rollout '${refKey(ref)}'`);
  const rollout = await cluster.get<Rollout>({ ...ROLLOUTS, ...ref });
  if (!rollout) return refusal(404, `Rollout '${refKey(ref)}' doesn't exist`);
  const input = deployedInput(rollout);
  return input
    ? { status: 200, body: { inputs: [input] } }
    : refusal(
        409,
        withCommands(`Rollout '${refKey(ref)}' has deployed nothing yet`, [
          'To see what it waits for',
          shell`kubectl rollouts why ${ref.name} -n ${ref.namespace}`,
        ]),
      );
}
