/** The fake Flux of dev/actors does what the real one does. */

import { releaseStories } from './releases.ts';
import { fakeFluxSetup } from './fluxSetup.ts';

releaseStories(fakeFluxSetup());
