/** A search field, whose words are in the address. The key `/` focuses it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../elements/Icon.tsx';
import { onKeys } from '../state/keys.ts';
import { setQuery } from '../state/route.ts';

export function Search({ value, label, placeholder }: { value: string; label: string; placeholder: string }) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(
    () =>
      onKeys({
        '/': (event) => {
          event.preventDefault();
          input.current?.focus();
          input.current?.select();
        },
      }),
    [],
  );
  return (
    <label class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        value={value}
        placeholder={placeholder}
        aria-label={label}
        onInput={(event) => setQuery({ q: event.currentTarget.value }, 'replace')}
      />
      <kbd>/</kbd>
    </label>
  );
}
