/** The colour scheme: light, dark, or the system's. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'rollouts-theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];
const stored = localStorage.getItem(KEY) as Theme | null;

export const theme = signal<Theme>(stored && ORDER.includes(stored) ? stored : 'system');

effect(() => {
  localStorage.setItem(KEY, theme.value);
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]!;
}
