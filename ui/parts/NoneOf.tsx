/** The text of a page without objects of its kind: why they can't be read, that they are being read, or that there are none. */
import type { KindState } from '../../client/board/pageMessages.ts';
import type { IconName } from '../look/Icon.tsx';
import { Message } from '../look/Message.tsx';
import type { Tone } from '../look/words.ts';
import { credentialsRefused, hasKey } from '../state/session.ts';
import { isComplete, kinds } from '../state/stream.ts';
import { Loading } from './Item.tsx';

interface NoneOfProps {
  kind: 'Rollout' | 'Gate';
  /** Role or rights that let a user read them. */
  needs: string;
  /** Shown if there are none. */
  children: preact.ComponentChildren;
}

export function NoneOf({ kind, needs, children }: NoneOfProps) {
  const states = kinds.value.filter((each) => each.kind === kind);
  // With several clusters, one that has answered: notices name the others.
  const found = states.find(({ state }) => state === 'live') ?? states[0];
  if (!found || found.state === 'loading' || (found.state === 'live' && !isComplete.value))
    return <Loading count={6} />;
  if (found.state === 'live') return <>{children}</>;
  const texts: Record<Exclude<KindState['state'], 'loading' | 'live'>, [IconName, Tone, string, string]> = {
    forbidden: ['closed', 'held', `You may not see ${kind}s`, `Whoever manages the cluster can bind ${needs} to you.`],
    absent: [
      'unknown',
      'calm',
      'rollout-hooks is not installed here',
      `This cluster does not know the kind ${kind}. Is it the right context? docs/install.md says how to install it.`,
    ],
    'signed-out': [
      'user',
      'bad',
      'The API server refuses the credentials',
      `${credentialsRefused()} This page continues by itself.`,
    ],
    reconnecting: [
      'problem',
      'bad',
      'The cluster does not answer',
      `This page tries again by itself.${hasKey ? ' Are you on its network?' : ''}`,
    ],
  };
  const [icon, tone, title, help] = texts[found.state];
  return (
    <Message icon={icon} tone={tone} title={title}>
      <p>{found.why}</p>
      <p>{help}</p>
    </Message>
  );
}
