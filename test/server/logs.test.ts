/** The server's log: its lines, and changes of its level at run time. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { objectOf } from '../support/objects.ts';
import { ask, createServerSetup, REVIEW } from './program.ts';

const setup = await createServerSetup();
const levelFile = join(setup.dir, 'level');
const program = await setup.start({ LOG_LEVEL_FILE: levelFile }, { receiver: true });

type Line = Record<string, any>;
const lines = (): Line[] =>
  program
    .log()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const soon = (matches: (line: Line) => boolean, what: string) =>
  eventually(() => {
    const found = lines().filter(matches);
    expect(found, what).not.toEqual([]);
    return found;
  });

const review = (name: string, spec: object, more: object = {}) => {
  const { request, ...rest } = JSON.parse(REVIEW);
  const object = objectOf('Gate', { metadata: { name, namespace: 'platform' }, spec } as never);
  return JSON.stringify({ ...rest, request: { ...request, object, ...more } });
};
const admit = (body: string) =>
  ask({ port: program.webhookPort, path: '/admission/validate/gate', ca: program.ca }, body);
const INVALID = { default: 'closed', window: 'soon' };

async function sync(name: string, rest: object = {}): Promise<number> {
  const parent = objectOf('Gate', {
    metadata: { name, namespace: 'platform', uid: name, generation: 1 },
    spec: { default: 'opened' },
  });
  const body = JSON.stringify({ controller: {}, parent, children: {}, related: {}, finalizing: false, ...rest });
  const url = `http://127.0.0.1:${program.hooksPort}/hooks/gate/sync`;
  return (await fetch(url, { method: 'POST', body })).status;
}

describe('a line', () => {
  it('of a denial names object, user and reason, once', async () => {
    for (const uid of ['1', '2', '3']) await admit(review('denied', INVALID, { uid }));
    await admit(review('dry', INVALID, { dryRun: true }));
    await admit(review('after', INVALID));
    await soon(({ name }) => name === 'after', 'the last denial');
    const denials = lines().filter(({ reason }) => reason === 'Denied');
    expect(denials.map(({ name }) => name)).toEqual(['denied', 'after']);
    expect(denials[0]).toEqual({
      level: 'info',
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      kind: 'Gate',
      namespace: 'platform',
      name: 'denied',
      reason: 'Denied',
      user: 'alice',
      msg: expect.stringMatching(/^CREATE denied \(invalid\): Gate .platform.denied. is not valid: spec\.window: /),
    });
  });

  it('is one line of limited length, whatever a user wrote', async () => {
    const long = `evil\n{"level":"info","msg":"forged"}\u2028\u009b2J\u202e${'x'.repeat(100_000)}`;
    await admit(review('long', { ...INVALID, window: long }, { userInfo: { username: long } }));
    const [line] = await soon(({ name }) => name === 'long', 'the denial');
    expect(line?.user.length).toBe(1024);
    expect(JSON.stringify(line).length).toBeLessThan(4000);
    expect(lines().some(({ msg }) => msg === 'forged')).toBe(false);
    expect(line?.user).toContain('\u009b2J\u202e');
    // In the text they are escaped, so that they don't reach the terminal of `kubectl logs`.
    expect(program.log()).not.toMatch(/[\u0080-\u009f\u2028\u202e]/);
  });

  it('of a request that is refused names the object', async () => {
    expect(await sync('wrong', { related: { x: 5 } })).toBeGreaterThanOrEqual(200);
    expect(
      await sync('broken', { parent: objectOf('Gate', { metadata: { name: 'broken', uid: 'u' } } as never) }),
    ).toBe(400);
    const [line] = await soon(({ name }) => name === 'broken', 'the refusal');
    expect(line).toMatchObject({ level: 'warn', route: '/hooks/gate/sync', kind: 'Gate', status: 400 });
  });

  const large = { x: 'y'.repeat(8_000_000) };
  const metadata = { name: 'itself', namespace: 'platform', uid: 'u', annotations: { note: '"}{\\' } };
  it.each([
    ['large', { related: large }],
    ['itself', { parent: objectOf('Gate', { metadata, spec: large } as never) }],
  ])('of a body that is too large names the object too: %s', async (name, body) => {
    expect(await sync(name, body)).toBe(429);
    const [line] = await soon((each) => each.name === name, 'the refusal');
    expect(line).toMatchObject({ level: 'warn', kind: 'Gate', namespace: 'platform', status: 413 });
  });
});

describe('the level', () => {
  const debug = ({ level }: Line) => level === 'debug';

  it('follows the file, and is as at the start without it', async () => {
    await sync('at-info');
    expect(lines().filter(debug)).toEqual([]);

    writeFileSync(levelFile, 'debug\n');
    // The receiver's thread follows the change.
    await eventually(() => expect(lines().filter(({ what }) => what === 'log level')).toHaveLength(2));
    await sync('at-debug');
    const [line] = await soon(({ name, level }) => name === 'at-debug' && level === 'debug', 'the sync');
    expect(line).toMatchObject({ hook: 'gate', changes: ['status'], msg: 'sync: changes' });

    writeFileSync(levelFile, 'loud');
    const [problem] = await soon(({ level, what }) => level === 'error' && what === 'log level', 'the problem');
    expect(problem?.problem).toContain('has level "loud"; expected one of silent, error, warn, info, debug, trace');
    const before = lines().filter(debug).length;
    await sync('still-debug');
    await soon(({ name }) => name === 'still-debug', 'the sync');
    expect(lines().filter(debug).length).toBeGreaterThan(before);

    rmSync(levelFile);
    await eventually(() =>
      expect(lines().filter(({ what, level }) => what === 'log level' && level === 'info')).toHaveLength(4),
    );
    await sync('again-info');
    await admit(review('last', INVALID));
    await soon(({ name }) => name === 'last', 'a later line');
    expect(lines().some(({ name }) => name === 'again-info')).toBe(false);
  });
});
