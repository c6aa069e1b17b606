/** The real kustomize-controller and helm-controller. */
import { verdictStories } from '../../cluster/flux/healthResults.ts';
import { realFluxSetup } from './realFluxSetup.ts';

verdictStories(realFluxSetup({ withHelm: true }));
