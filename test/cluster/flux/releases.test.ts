/** The fake Flux of dev/actors does what the real one does. */

import { releaseStories } from './releases.ts';
import { fakeWorld } from './world.ts';

releaseStories(fakeWorld());
