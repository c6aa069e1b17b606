/** The real kustomize-controller and helm-controller. */
import { verdictStories } from '../../cluster/flux/verdicts.ts';
import { realWorld } from './world.ts';

verdictStories(realWorld({ withHelm: true }));
