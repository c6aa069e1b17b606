/** Facts about an object, each with its term. */
export function Facts({ facts }: { facts: readonly (readonly [term: string, fact: preact.ComponentChildren])[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(([term, fact]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd class="line">{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
