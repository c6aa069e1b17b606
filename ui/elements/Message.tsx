/** The text of a page without content: why, and what to do. */
import { Icon, type IconName } from './Icon.tsx';
import type { Tone } from './words.ts';

interface MessageProps {
  icon: IconName;
  tone?: Tone;
  title: string;
  /** Set if the message is the whole page: its title is then the page's heading. */
  isWhole?: boolean;
  children?: preact.ComponentChildren;
}

export function Message({ icon, tone = 'calm', title, isWhole, children }: MessageProps) {
  const Heading = isWhole ? 'h1' : 'h2';
  return (
    <div class={`stack message tone-${tone}`}>
      <span class="tile">
        <Icon name={icon} size={28} />
      </span>
      <Heading>{title}</Heading>
      <div class="stack message-text">{children}</div>
    </div>
  );
}
