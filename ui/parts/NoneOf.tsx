/** The text of a page without objects of its kind: that they are being read, can't be read, or don't exist. */
import type { KindState } from '../../client/board/pageMessages.ts';
import type { IconName } from '../elements/Icon.tsx';
import { Message } from '../elements/Message.tsx';
import type { Tone } from '../elements/words.ts';
import { credentialsRefused, hasKey } from '../state/session.ts';
import { isComplete, kinds } from '../state/stream.ts';
import { Loading } from './Item.tsx';

interface NoneOfProps {
  kind: 'Rollout' | 'Gate';
  /** The role or rights by which a user may read the kind. */
  needs: string;
  /** The text if there are none. */
  children: preact.ComponentChildren;
}

export function NoneOf({ kind, needs, children }: NoneOfProps) {
  const states = kinds.value.filter((each) => each.kind === kind);
  // With several clusters, the state of one that has answered: notices are about the others.
  const found = states.find(({ state }) => state === 'live') ?? states[0];
  if (!found || found.state === 'loading' || (found.state === 'live' && !isComplete.value))
    return <Loading count={6} />;
  if (found.state === 'live') return <>{children}</>;
  const texts: Record<Exclude<KindState['state'], 'loading' | 'live'>, [IconName, Tone, string, string]> = {
    forbidden: ['closed', 'held', `You aren't allowed to read ${kind}s`, `A cluster admin can bind ${needs} to you.`],
    absent: [
      'unknown',
      'calm',
      'rollout-hooks is not installed here',
      `This cluster does not have the kind ${kind}. Is it the right context?`,
    ],
    'signed-out': [
      'user',
      'bad',
      'The API server refuses the credentials',
      `${credentialsRefused()} This page continues automatically.`,
    ],
    reconnecting: [
      'problem',
      'bad',
      'The cluster does not answer',
      `This page tries again automatically.${hasKey ? ' Are you on its network?' : ''}`,
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
