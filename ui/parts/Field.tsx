/** A text field with its label. */
interface FieldProps {
  label: string;
  value: string;
  type?: 'text' | 'datetime-local';
  placeholder?: string | undefined;
  maxLength?: number;
  list?: string;
  autocomplete?: 'off';
  spellcheck?: false;
  autofocus?: true;
  /** A text beside the label that is not part of the field's name. */
  hint?: string;
  onInput: (value: string) => void;
  children?: preact.ComponentChildren;
}

export function Field({ label, hint, onInput, children, ...input }: FieldProps) {
  return (
    <label class="stack field">
      <span>
        {label}
        {hint}
        {children}
      </span>
      <input {...input} aria-label={label} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  );
}
