/** The icons, sixteen units wide, in the colour of the text. Each state has a shape of its own, not only a colour. */
const PATHS = {
  done: 'M3.5 8.5l3 3 6-7',
  failed: 'M4 4l8 8M12 4l-8 8',
  waits: 'M8 4v4l2.5 2M8 14.2a6.2 6.2 0 1 0 0-12.4 6.2 6.2 0 0 0 0 12.4z',
  gate: 'M5 3.5v9M11 3.5v9',
  rolling: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  bake: 'M8 2.5c2.8 2.6 4 4.4 4 6.6a4 4 0 0 1-8 0c0-1.3.6-2.3 1.6-3 .2 1 .7 1.5 1.3 1.6C6.6 6 7 4.2 8 2.5z',
  empty: 'M5 8h6',
  problem: 'M8 4v5M8 11.6v.4',
  pin: 'M6 2.5h4l-.6 4 2.1 2.2H4.5l2.1-2.2zM8 8.700v5',
  open: 'M5 7.200V5.500a3 3 0 0 1 5.700-1.300M3.800 7.200h8.400v6H3.800z',
  closed: 'M5 7.200V5.500a3 3 0 0 1 6 0v1.700M3.800 7.200h8.400v6H3.800z',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500l3 3',
  chevron: 'M6 3.500l4.500 4.500L6 12.500',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.500 5.500h7v8h-7zM3.500 10.500v-8h7',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1',
  moon: 'M13 9.600A5.500 5.500 0 0 1 6.400 3a5.500 5.500 0 1 0 6.600 6.600z',
  system: 'M2.500 3h11v7.500h-11zM6 13.500h4',
  help: 'M6 6a2 2 0 1 1 2.900 1.800c-.6.300-.900.700-.900 1.400M8 11.700v.3',
  release: 'M8 1.800 13.500 5v6L8 14.200 2.500 11V5zM2.500 5 8 8.200 13.500 5M8 8.200v6',
  object: 'M2.500 4.500h11v7h-11zM2.500 7.500h11',
  heart: 'M1.800 8h3l1.700-4 3 8 1.600-4h3.100',
  minus: 'M3 8h10',
  user: 'M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM2.800 13.700a5.300 5.300 0 0 1 10.400 0',
  leave: 'M6.500 2.500h-3.500v11h3.500M7 8h6.500M10.800 5.300 13.500 8l-2.700 2.700',
  unknown: 'M4 8h.01M8 8h.01M12 8h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16, label }: { name: IconName; size?: number; label?: string }) {
  const access = label ? ({ role: 'img', 'aria-label': label } as const) : ({ 'aria-hidden': true } as const);
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or is hidden if the text beside it has its meaning.
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" {...access}>
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
