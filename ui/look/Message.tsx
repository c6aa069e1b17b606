/** The text of a page that has nothing to show: why, and what to do. */
import { Icon, type IconName } from './Icon.tsx';
import type { Tone } from './words.ts';

interface MessageProps {
  icon: IconName;
  tone?: Tone;
  title: string;
  /** It fills the page, so its title is the page's heading. */
  isWhole?: boolean;
  children?: preact.ComponentChildren;
}

export function Message({ icon, tone = 'calm', title, isWhole, children }: MessageProps) {
  const Heading = isWhole ? 'h1' : 'h2';
  return (
    <div class={`message tone-${tone}`}>
      <span class="tile">
        <Icon name={icon} size={28} />
      </span>
      <Heading>{title}</Heading>
      <div class="message-text">{children}</div>
    </div>
  );
}
