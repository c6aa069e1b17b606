/** A group of buttons, each on or off. */
interface TogglesProps<Value extends string> {
  class?: string;
  legend: string;
  options: readonly (readonly [value: Value, text: string])[];
  isOn: (value: Value) => boolean;
  onToggle: (value: Value) => void;
}

export function Toggles<Value extends string>(props: TogglesProps<Value>) {
  const { class: look = 'choices', legend, options, isOn, onToggle } = props;
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
