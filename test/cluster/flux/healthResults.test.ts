/** The fake Flux of dev/actors reports what the real one reports. */

import { verdictStories } from './healthResults.ts';
import { fakeFluxSetup } from './fluxSetup.ts';

verdictStories(fakeFluxSetup());
