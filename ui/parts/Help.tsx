import { signal } from '@preact/signals';
import { Dialog } from './Dialog.tsx';

export const help = signal(false);

const KEYS: [keys: string[], text: string][] = [
  [['/'], 'search'],
  [['j'], 'next row or stage'],
  [['k'], 'previous row or stage'],
  [['Enter'], 'open it'],
  [['g', 'b'], 'board'],
  [['g', 'g'], 'Gates and calendar'],
  [['g', 'p'], 'promotion'],
  [['g', 'a'], 'objects not under a Rollout'],
  [['u'], 'back up'],
  [['t'], 'light, dark, system'],
  [['?'], 'this list'],
  [['Esc'], 'close'],
];

export function Help() {
  if (!help.value) return null;
  const close = () => {
    help.value = false;
  };
  return (
    <Dialog title="Keyboard" onClose={close}>
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
    </Dialog>
  );
}
