/** The fake Flux of dev/actors reports what the real one reports. */

import { fakeFluxSetup } from './fluxSetup.ts';
import { verdictStories } from './healthResults.ts';

verdictStories(fakeFluxSetup());
