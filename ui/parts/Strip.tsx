/** How the last deployments went: a bar for each, oldest first. A failed one is broken, a cancelled one hollow. */
import type { Row } from '../../client/board/row.ts';
import { OUTCOMES } from '../look/words.ts';

const STEP = 9;
const HEIGHT = 20;

export function stripText(strip: Row['strip']): string {
  if (strip.length === 0) return 'no deployments';
  const failed = strip.filter(({ outcome }) => outcome === 'Failed').length;
  return `last ${strip.length} deployments${failed > 0 ? `, ${failed} failed` : ', none failed'}`;
}

export function Strip({ strip }: { strip: Row['strip'] }) {
  return (
    <svg
      class="strip"
      width={12 * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${12 * STEP} ${HEIGHT}`}
      role="img"
      aria-label={stripText(strip)}
    >
      {strip.map(({ id, version, outcome }, index) => {
        const x = (12 - strip.length + index) * STEP + 2;
        return (
          <g key={id} class={`bar tone-${OUTCOMES[outcome].tone} ${outcome}`}>
            <title>{`${version}: ${OUTCOMES[outcome].text}`}</title>
            <rect x={x - 2} y="0" width={STEP} height={HEIGHT} class="bar-hover" />
            {outcome === 'Failed' ? (
              <path d={`M${x + 1.5} 4.500v3M${x + 3.5} 12.500v3M${x - 0.5} 10h6`} class="bar-cut" />
            ) : (
              <rect
                x={x}
                y={outcome === 'Cancelled' ? 10 : 3}
                width="5"
                height={outcome === 'Cancelled' ? 7 : 14}
                rx="1.500"
                class="bar-body"
              />
            )}
          </g>
        );
      })}
    </svg>
  );
}
