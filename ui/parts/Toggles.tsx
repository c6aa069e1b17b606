/** A group of buttons, each on or off. */
interface TogglesProps {
  class?: string;
  legend: string;
  options: readonly (readonly [value: string, text: string])[];
  isOn: (value: string) => boolean;
  onToggle: (value: string) => void;
}

export function Toggles({ class: look = 'choices', legend, options, isOn, onToggle }: TogglesProps) {
  return (
    <fieldset class={look}>
      <legend class={look === 'choices' ? undefined : 'hidden'}>{legend}</legend>
      {options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={isOn(value)} onClick={() => onToggle(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
