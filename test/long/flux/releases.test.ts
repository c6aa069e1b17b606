/** The real source-controller and kustomize-controller, from a real registry. */
import { releaseStories } from '../../cluster/flux/releases.ts';
import { realFluxSetup } from './realFluxSetup.ts';

releaseStories(realFluxSetup());
