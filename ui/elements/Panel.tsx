/** A part of a page, with its title. */
interface PanelProps {
  id: string;
  title: preact.ComponentChildren;
  children: preact.ComponentChildren;
}

export function Panel({ id, title, children }: PanelProps) {
  return (
    <section class="card panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
