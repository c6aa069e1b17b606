/** A table that scrolls on its own where it is wider than the page. */
interface TableProps {
  label: string;
  class?: string;
  /** The heads of the columns. `Actions` is for screen readers only. */
  heads: readonly preact.ComponentChildren[];
  children: preact.ComponentChildren;
}

export function Table({ label, class: look = '', heads, children }: TableProps) {
  return (
    <section class={`table-scroll ${look}`} tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th key={index} scope="col">
                {head === 'Actions' ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
