/** Many tabs of one browser, which has six connections to one server: one of them reads the stream, and tells the others. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Visitor, visitorOf } from '../support/browser.ts';
import { sharedCluster } from '../support/cluster.ts';
import { type Story, storyOf } from '../support/rolloutStory.ts';

const TABS = 8;

describe('eight tabs', () => {
  const view = sharedCluster();
  let story: Story;
  let visitor: Visitor;
  let tabs: Page[];
  let streams: Page[];
  let version = 0;

  const opened = async () => {
    const tab = await visitor.tab('/');
    tab.on('request', (request) => request.url().endsWith('/api/stream') && streams.push(tab));
    return tab;
  };
  /** The next version is seen in each. */
  const expectLive = async (seeing: readonly Page[]) => {
    const tag = `1.${++version}.0`;
    await story.publish(tag);
    await Promise.all(seeing.map((tab) => tab.getByText(tag, { exact: true }).first().waitFor()));
  };

  beforeAll(async () => {
    story = storyOf(view, await view.newNamespace());
    await story.create({}, {});
    await story.publish('1.0.0');
    await story.headIs('1.0.0', {});
    visitor = await visitorOf(view.dir, 'developer', story.ns);
  });
  afterAll(() => visitor.close());
  afterEach(() => visitor.leave());

  const openAll = async () => {
    streams = [];
    const first = await opened();
    await first.getByRole('link', { name: 'app', exact: true }).waitFor();
    tabs = [first];
    for (let count = 1; count < TABS; count++) tabs.push(await opened());
    await Promise.all(tabs.map((tab) => tab.getByRole('link', { name: 'app', exact: true }).waitFor()));
  };

  it('are all live over one stream, and the next reads on when the one that reads is closed', async () => {
    await openAll();
    await expectLive(tabs);
    expect(streams).toEqual([]);
    const [first, ...others] = tabs;
    await first!.close();
    await expectLive(others);
    expect(streams.length).toBe(1);
    await streams[0]!.close();
    await expectLive(others.filter((tab) => !tab.isClosed()));
    expect(streams.length).toBe(2);
  });

  it('see that the server is gone, and that it is back', async () => {
    await openAll();
    await visitor.server.close();
    await Promise.all(tabs.map((tab) => tab.getByText('What you see is how it was').waitFor()));
    const again = await visitor.serveAgain();
    await Promise.all(tabs.map((tab) => tab.getByText('What you see is how it was').waitFor({ state: 'hidden' })));
    await expectLive(tabs);
    await again.close();
  });

  it('do not wait for one that is frozen', async () => {
    const own = await visitorOf(view.dir, 'developer', story.ns);
    const first = await own.tab('/');
    await first.getByRole('link', { name: 'app', exact: true }).waitFor();
    const session = await first.context().newCDPSession(first);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    const second = await own.tab('/');
    await second.getByRole('link', { name: 'app', exact: true }).waitFor();
    await expectLive([second]);
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await expectLive([first, second]);
    await own.close();
  });
});
