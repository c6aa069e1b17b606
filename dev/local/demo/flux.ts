/** Flux in the demo: no controller of Flux runs there, and somebody has to say that a version was fetched and applied. */
import { fakeFlux } from '../../actors/fakeFlux.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { HOME, NEIGHBOURS } from './objects.ts';

export function withFlux(accessOf: (user: 'flux') => Access): { stop(): Promise<void> } {
  const flux = fakeFlux({ flux: new User(accessOf('flux')) });
  const following = [HOME, NEIGHBOURS].map((namespace) => flux.follow(namespace));
  return {
    async stop() {
      await Promise.all(following.map((each) => each.stop()));
    },
  };
}
