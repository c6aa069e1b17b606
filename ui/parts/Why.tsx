/** An explanation: the first cause, other causes, what happens next, and what could not be read. */
import type { Cause, Next } from '../../client/explain/application.ts';
import { Icon } from '../elements/Icon.tsx';
import { Sentence } from './Sentence.tsx';
import { Until } from './Time.tsx';

interface WhyProps {
  causes: readonly Cause[];
  next: Next | undefined;
  unread: readonly string[];
}

export function Why({ causes: [cause, ...others], next, unread }: WhyProps) {
  return (
    <>
      {cause && (
        <p class="banner-cause">
          <Sentence text={cause.text} />
        </p>
      )}
      {others.map(({ code, text }) => (
        <p key={`${code} ${text}`} class="banner-also">
          <Sentence text={text} />
        </p>
      ))}
      {next && (
        <p class="banner-next">
          <Icon name="waits" />
          <span>
            <strong>Next:</strong> <Sentence text={next.text} />
            {next.at && (
              <>
                {' '}
                · <Until time={next.at} />
              </>
            )}
          </span>
        </p>
      )}
      {unread.length > 0 && <p class="banner-also">Not read: {unread.join('; ')}.</p>}
    </>
  );
}
