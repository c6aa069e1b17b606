/** A page that has nothing to show says why, and what to do. */
import { Icon, type IconName } from './Icon.tsx';
import type { Tone } from './words.ts';

interface MessageProps {
  icon: IconName;
  tone?: Tone;
  title: string;
  children?: preact.ComponentChildren;
}

export function Message({ icon, tone = 'calm', title, children }: MessageProps) {
  return (
    <div class={`message tone-${tone}`}>
      <span class="tile">
        <Icon name={icon} size={28} />
      </span>
      <h2>{title}</h2>
      <div class="message-text">{children}</div>
    </div>
  );
}
