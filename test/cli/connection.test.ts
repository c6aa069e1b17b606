/** No cluster, wrong credentials, wrong names: one clear sentence on standard error, an exit code, no stack. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { USER_ROLES } from '../../connection/kube/apiProblems.ts';
import { call } from '../support/command.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { apiServer, json, kubeconfigOf, kubeconfigWith, list, rollout, status } from './apiServer.ts';

const get = (kubeconfig: string, line = 'get') => call(line, { env: { KUBECONFIG: kubeconfig } });

/** A port without a listener. */
const NOBODY = 'http://127.0.0.1:1';

describe('prints one sentence if', () => {
  it.each([
    [
      'no kubeconfig',
      () => '/nonexistent',
      'get',
      'There is no kubeconfig at /nonexistent: set KUBECONFIG, or name one with --kubeconfig.',
    ],
    [
      'an unknown context',
      () => kubeconfigOf(NOBODY),
      'get --context prod',
      /^There is no context 'prod' in .*: it has test\.$/,
    ],
    ['an unknown user', () => kubeconfigOf(NOBODY), 'get --user bob', /^There is no user 'bob' in .*: it has alice\.$/],
    [
      'an unknown cluster',
      () => kubeconfigOf(NOBODY),
      'get --cluster far',
      /^There is no cluster 'far' with a server in .*: it has cluster\.$/,
    ],
    [
      'a time that is none',
      () => kubeconfigOf(NOBODY),
      'get --request-timeout soon',
      "--request-timeout: 'soon' is not a time such as 30s or 2m.",
    ],
    [
      'nobody there',
      () => kubeconfigOf(NOBODY),
      'get',
      "The API server http://127.0.0.1:1 of context 'test' does not answer: connection refused. Is the cluster running, and is this the right context?",
    ],
    [
      'a plugin that fails',
      () =>
        kubeconfigOf('https://127.0.0.1:1', {
          exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'false' },
        }),
      'get',
      "The credentials of context 'test' could not be read: the plugin failed.",
    ],
    [
      'a plugin that is not installed',
      () =>
        kubeconfigOf('https://127.0.0.1:1', {
          exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/nonexistent/login' },
        }),
      'get',
      "The credentials of context 'test' could not be read: spawn /nonexistent/login ENOENT.",
    ],
  ])('%s', async (_, kubeconfig, line, sentence) => {
    const { code, out, err } = await get(kubeconfig(), line);
    expect([out, err.split('\n').length]).toEqual(['', 2]);
    expect(code).toBeGreaterThan(0);
    if (typeof sentence === 'string') expect(err).toBe(`${sentence}\n`);
    else expect(err.trimEnd()).toMatch(sentence);
  });

  it('a file that is no kubeconfig', async () => {
    const file = join(temporaryFolder('kubeconfig-'), 'config');
    writeFileSync(file, '{"a": [');
    const { code, err } = await get(file);
    expect(code).toBe(1);
    expect(err).toMatch(/^.*config is not a kubeconfig: .*\.\n$/);
  });

  it('an expired token', async () => {
    const { kubeconfig, url } = await apiServer((_, response) => status(response, 401, 'Unauthorized', 'Unauthorized'));
    const { code, err } = await get(kubeconfig);
    expect([code, err]).toEqual([
      1,
      `The API server ${url} of context 'test' does not accept the credentials of 'alice': they have expired or are wrong. Sign in again.\n`,
    ]);
  });

  it('a cluster without our kinds', async () => {
    const { kubeconfig } = await apiServer((_, response) =>
      status(response, 404, 'NotFound', 'the server could not find the requested resource'),
    );
    const { code, err } = await get(kubeconfig);
    expect([code, err]).toEqual([
      1,
      'The cluster does not have the kind Rollout (kuberik.com): is rollout-hooks installed, and is this the right context?\n',
    ]);
  });

  it.each([
    [{ kind: 'gates' }, / To get the right, ask an administrator for a role \(gate-viewer, [^.]*gate-approver.*\.\n$/],
    [{ kind: 'rollouts' }, /^no\. To get the right, ask an administrator for a role \(view, rollout-[a-z-]*\): docs/],
    [{ kind: 'events' }, /^no\. To get the right, ask an administrator for a role: docs\/install\.md, [^.]*\.\n$/],
    [{ kind: 'gates', causes: [{ message: 'no' }] }, /^no\.\n$/],
    [undefined, /^no\.\n$/],
  ])(
    'a user without the right is told the roles, and one whom a policy or a webhook denies is not: %o',
    async (details, text) => {
      const { kubeconfig } = await apiServer((_, response) =>
        json(
          response,
          { kind: 'Status', apiVersion: 'v1', code: 403, reason: 'Forbidden', message: 'no', details },
          403,
        ),
      );
      const { code, err } = await get(kubeconfig, 'approve gate/freeze 1.2.0');
      expect([code, err]).toEqual([1, expect.stringMatching(text)]);
    },
  );

  it('has the roles of the installation in its text', () => {
    const roles = ['user-roles.yaml', 'compat-roles.yaml'].flatMap((file) =>
      parseAllDocuments(readFileSync(`manifests/rbac/${file}`, 'utf8')).map((each) => each.toJS().metadata.name),
    );
    expect(['view', ...roles]).toEqual(expect.arrayContaining(Object.values(USER_ROLES).flat()));
  });

  it.each([
    ['rollout.admission.kuberik.com', 1],
    ['webhook.example.com', 0],
  ])('the webhook %s that does not answer: %i command to find the cause', async (name, commands) => {
    const message = `Internal error occurred: failed calling webhook "${name}": connection refused`;
    const { kubeconfig } = await apiServer((_, response) => status(response, 500, 'InternalError', message));
    const { code, err } = await get(kubeconfig);
    const help = ' Nothing was changed.\nTo find out why the webhook does not answer:\n  kubectl rollouts doctor';
    expect([code, err]).toEqual([1, `${message}.${help.repeat(commands)}\n`]);
  });

  it('an API server that never answers', async () => {
    const { kubeconfig, url } = await apiServer(() => {});
    const { code, err } = await get(kubeconfig, 'get --request-timeout 1s');
    expect([code, err]).toEqual([
      1,
      `The API server ${url} of context 'test' does not answer: no answer in time; --request-timeout allows more.\n`,
    ]);
  });

  it('a proxy that answers in HTML', async () => {
    const { kubeconfig } = await apiServer((_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html>\nbad gateway');
    });
    const { err } = await get(kubeconfig);
    expect(err).toMatch(/^GET \/apis\/kuberik\.com\/v1alpha1\/namespaces\/shop\/rollouts: HTTP 502 <html>\.\n$/);
  });
});

describe('connects as kubectl does', () => {
  it('uses the user’s token, the context’s namespace, and impersonation', async () => {
    const seen: Record<string, unknown>[] = [];
    const { kubeconfig, asked } = await apiServer((request, response) => {
      seen.push(request.headers);
      json(response, list([]));
    });
    await get(kubeconfig, 'get --as bob --as-group one --as-group two');
    expect(asked[0]).toMatch(/^GET \/apis\/kuberik\.com\/v1alpha1\/namespaces\/shop\/rollouts\?/);
    expect(seen[0]).toMatchObject({
      authorization: 'Bearer secret',
      'impersonate-user': 'bob',
      'impersonate-group': 'one, two',
    });
  });

  it('takes a list of files, where the first value counts', async () => {
    const { url, asked } = await apiServer((_, response) => json(response, list([rollout('app')])));
    const first = kubeconfigOf(url);
    const second = kubeconfigOf(NOBODY);
    const { out } = await get(`/nonexistent:${first}:${second}`);
    expect(out).toMatch(/^app/);
    expect(asked.length).toBeGreaterThan(0);
  });

  it('with options in front of the command', async () => {
    const { kubeconfig, asked } = await apiServer((_, response) => json(response, list([])));
    await get(kubeconfig, '-n other get');
    expect(asked[0]).toContain('/namespaces/other/rollouts');
  });
});

describe('a wrong command line', () => {
  it.each([
    ['got', /^unknown command 'got'\n\(Did you mean get\?\)\nTo list the commands: kubectl rollouts --help\n$/],
    ['get -o', / argument missing\nTo list its options: kubectl rollouts get --help\n$/],
    ['get -o xml', /argument 'xml' is invalid\. Allowed choices are wide, name, json, yaml\./],
    ['get app -A', /Give names, or else --all-namespaces and --selector/],
    ['get --until baked', /--until needs --watch/],
    ['get --release 1.0.0', /--release needs --until/],
    ['freeze web --rollout app', /^unknown option '--rollout'\nCommands with --rollout: close, adopt\.\n$/],
    ['close web --kinds=Rollout', /\nCommands with --kinds: freeze\.\n$/],
    ['open web -l team=shop --for 1h', /\nCommands with -l: get, .*\n$/],
    ['get --nonsense', /^unknown option '--nonsense'\nTo list its options: kubectl rollouts get --help\n$/],
    ['status', /^missing required argument 'rollout'\nTo list its arguments: kubectl rollouts status --help\n$/],
    ['status app --until baked --timeout soon', /--timeout: 'soon' is not a time/],
    ['completion tcsh', /There is no completion for 'tcsh', only for bash, zsh, fish\./],
  ])('%s ends with 2', async (line, sentence) => {
    const server = await apiServer((_, response) => json(response, rollout('app')));
    const { code, out, err } = await get(server.kubeconfig, line);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(sentence);
  });
});

it('names the option of a selector that the API server refuses', async () => {
  const why = "unable to parse requirement: found '' expected: '('";
  const { kubeconfig } = await apiServer((_, response) => status(response, 400, 'BadRequest', why));
  for (const watch of [[], ['--watch']]) {
    const called = await call(['get', '-l', 'a in', ...watch], { env: { KUBECONFIG: kubeconfig } });
    expect([called.code, called.err]).toEqual([2, `--selector: 'a in' does not parse: ${why}.\n`]);
  }
});

describe('a printed command has the connection flags', () => {
  const failed = rollout('web', '1.3.0', 'shop-prod');
  Object.assign(failed.status.history[0]!, { bakeStatus: 'Failed' });
  Object.assign(failed.spec, { wantedVersion: '1.3.0' });

  /** `prod` is not the current context. */
  async function inProd(line: string) {
    const { url } = await apiServer((_, response, { pathname }) => {
      if (pathname.endsWith('/selfsubjectaccessreviews')) return json(response, { status: { allowed: true } });
      if (pathname.endsWith('/rollouts/web')) return json(response, failed);
      if (pathname.endsWith('/v1alpha1')) return status(response, 403, 'Forbidden', 'no');
      json(response, list([]));
    });
    const { out, err } = await get(kubeconfigWith({ staging: NOBODY, prod: url }), line);
    return `${out}${err}`.split('\n').filter((each) => /^ *(kubectl |"(kubectl|command)":)/.test(each));
  }

  it.each<[string, string]>([
    ['why web', '--context prod'],
    ['why web --as bob --as-group qa', '--context prod --as bob --as-group qa'],
    ['why web -o json', '--context prod'],
    ['withdraw web', '--context prod'],
    ['deploy web 1.2.0', '--context prod'],
    ['get', '--context prod'],
    ['retry web --show-kubectl --yes', '--context prod'],
  ])('of %s: %s', async (line, flags) => {
    const commands = await inProd(`${line} --context prod`);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.filter((each) => !each.includes(flags))).toEqual([]);
  });
});
