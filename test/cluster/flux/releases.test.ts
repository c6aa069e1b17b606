/** The fake Flux of dev/actors does what the real one does. */

import { fakeFluxSetup } from './fluxSetup.ts';
import { releaseStories } from './releases.ts';

releaseStories(fakeFluxSetup());
