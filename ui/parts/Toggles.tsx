/** A group of buttons, each on or off. */
interface TogglesProps<Value extends string> {
  legend: string;
  /** Set if only screen readers have the legend. */
  isLegendHidden?: true;
  options: readonly (readonly [value: Value, text: string])[];
  isOn: (value: Value) => boolean;
  onToggle: (value: Value) => void;
}

export function Toggles<Value extends string>(props: TogglesProps<Value>) {
  const { legend, isLegendHidden, options, isOn, onToggle } = props;
  return (
    <fieldset class="choices">
      <legend class={isLegendHidden && 'hidden'}>{legend}</legend>
      {options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={isOn(value)} onClick={() => onToggle(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
