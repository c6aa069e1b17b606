/** The fake Flux of dev/actors reports what the real one reports. */

import { verdictStories } from './verdicts.ts';
import { fakeWorld } from './world.ts';

verdictStories(fakeWorld());
