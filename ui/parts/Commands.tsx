/** The command that makes the same request, by kubectl rollouts or plain kubectl, with a button that copies it. */
import { useState } from 'preact/hooks';
import type { Action, ActionRequest } from '../../client/actions/action.ts';
import { inContext, linesOf } from '../../client/actions/lines.ts';
import { Icon } from '../elements/Icon.tsx';
import { cluster } from '../state/cluster.ts';

export const commandsOf = (request: ActionRequest, found?: Action['found']) => linesOf(request, found, Date.now());

export function Commands({ command, kubectl }: { command: string; kubectl: string }) {
  const [plain, setPlain] = useState(false);
  return (
    <div>
      <div class="equivalent-head">
        <span>The same as a command</span>
        <button type="button" class="link" aria-pressed={plain} onClick={() => setPlain(!plain)}>
          {plain ? 'kubectl rollouts' : 'plain kubectl'}
        </button>
      </div>
      <Command text={plain ? kubectl : command} />
    </div>
  );
}

/** A command. With several clusters it gets the context of the cluster in the address. */
export function Command({ text: command }: { text: string }) {
  const text = cluster.value === undefined ? command : inContext(command, cluster.value);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => {});
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div class="command">
      <pre>{text.split(/(\s+)/).map((part, index) => (index % 2 === 0 ? <span key={index}>{part}</span> : part))}</pre>
      <button type="button" class="quiet" onClick={copy} aria-label="Copy the command">
        <Icon name={copied ? 'done' : 'copy'} />
      </button>
    </div>
  );
}
