import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../look/Icon.tsx';

export const help = signal(false);

const KEYS: [keys: string[], text: string][] = [
  [['/'], 'search'],
  [['j'], 'next row'],
  [['k'], 'row before'],
  [['Enter'], 'open the row'],
  [['g', 'b'], 'board'],
  [['g', 'g'], 'gates and calendar'],
  [['g', 'p'], 'promotion'],
  [['g', 't'], 'what is not under a Rollout'],
  [['u'], 'back up'],
  [['t'], 'light, dark, system'],
  [['?'], 'this list'],
  [['Esc'], 'close'],
];

export function Help() {
  return help.value ? <HelpDialog /> : null;
}

function HelpDialog() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  const close = () => {
    help.value = false;
  };
  return (
    <dialog ref={element} class="dialog" onClose={close} aria-labelledby="help-title">
      <header>
        <h2 id="help-title">Keyboard</h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
