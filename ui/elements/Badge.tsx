import { Icon, type IconName } from './Icon.tsx';
import type { Tone } from './words.ts';

export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName; children: preact.ComponentChildren }) {
  return (
    <span class={`badge tone-${tone}`}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}
