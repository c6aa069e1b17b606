/** A select without a visible label. */
interface SelectProps {
  class?: string;
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

export function Select({ class: look, label, value, options, onChange }: SelectProps) {
  return (
    <select class={look} aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
