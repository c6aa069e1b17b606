/** The dialog that creates a freeze. The address has all fields but the reason. */
import { useState } from 'preact/hooks';
import { FROZEN_KINDS } from '../../client/actions/writes/freeze.ts';
import type { Preview } from '../../client/board/pageMessages.ts';
import { rowKey } from '../../client/board/row.ts';
import { DAYS } from '../../core/calendar/calendarRules.ts';
import { formatTime } from '../../core/kube/time.ts';
import { LIMITS } from '../../core/limits.ts';
import { countOf } from '../../core/text/count.ts';
import { ClusterChoice } from '../parts/Choice.tsx';
import { Commands, commandsOf } from '../parts/Commands.tsx';
import { RequestDialog } from '../parts/Dialog.tsx';
import { Field } from '../parts/Field.tsx';
import { Select } from '../parts/Select.tsx';
import { Toggles } from '../parts/Toggles.tsx';
import { namespaces } from '../state/board.ts';
import { now, timeZone } from '../state/clock.ts';
import { cluster, clusters } from '../state/cluster.ts';
import { useItem, whenTyped } from '../state/item.ts';
import { query, setQuery } from '../state/route.ts';
import { api } from '../state/session.ts';
import { gates, hello } from '../state/stream.ts';
import { type Freeze, formProblem, freezeOf, NO_FREEZE, nameOf, presets, queryOf, requestOf } from './freeze.ts';

export function FreezeDialog() {
  const freeze = freezeOf(query.value, defaultNamespace(), timeZone);
  const [reason, setReason] = useState('');
  const name = nameOf(freeze, (id) => gates.value.has(rowKey({ cluster: cluster.value, id })));
  const request = requestOf(freeze, name, reason);
  const lacks = clusters.value.length > 0 && !cluster.value ? 'Choose a cluster.' : formProblem(freeze);
  const requested = JSON.stringify([request, cluster.value]);
  const { value: last, problem } = useItem(
    whenTyped(async () => ({ requested, preview: lacks ? undefined : await api.preview(request) })),
    requested,
  );
  const preview = !problem && last?.requested === requested ? last.preview : undefined;
  const where = freeze.isOfAll ? 'all namespaces' : freeze.namespace;
  const text = `Freeze ${where}${preview ? `: ${countOf(preview.count, 'object')}` : ''}`;
  return (
    <RequestDialog
      title="Freeze"
      text="Creates a Gate that holds the objects it selects. Applications keep running, unchanged, while the Gate is closed."
      submit={preview?.lacks ? undefined : { text, isReady: !lacks && preview?.answer.ok !== false }}
      send={() => api.act(request)}
      dryRun={preview?.lacks ? undefined : preview?.answer}
      onClose={() => setQuery(NO_FREEZE, 'replace')}
    >
      <Form freeze={freeze} name={name} reason={reason} setReason={setReason} />
      {lacks || problem ? (
        <p class="dialog-text">{lacks || `What it would hold is unknown: ${problem}`}</p>
      ) : (
        <Holds preview={preview} />
      )}
      {preview?.lacks && <p class="dialog-text">To freeze with this Gate, you need {preview.lacks}.</p>}
      <Commands {...(preview?.commands ?? commandsOf(request))} />
    </RequestDialog>
  );
}

/** The default namespace of a freeze: the context's, or one with Rollouts if that has none. */
function defaultNamespace(): string {
  const chosen = clusters.value.find(({ name }) => name === cluster.value);
  const { namespace, home = 'default' } = { ...hello.value, ...(chosen && { home: chosen.home }) };
  return namespace ?? (namespaces.value.includes(home) ? home : (namespaces.value[0] ?? home));
}

interface FormProps {
  freeze: Freeze;
  name: string;
  reason: string;
  setReason: (reason: string) => void;
}

function Form({ freeze, name, reason, setReason }: FormProps) {
  const { when, kinds, days, hours, namespace, isOfAll, lasts, from } = freeze;
  const change = (changes: Partial<Freeze>) => setQuery(queryOf({ ...freeze, ...changes }), 'replace');
  const toggled = <T,>(list: readonly T[], each: T) =>
    list.includes(each) ? list.filter((other) => other !== each) : [...list, each];
  const known = new Set([namespace, ...namespaces.value, ...[...gates.value.values()].map((gate) => gate.namespace)]);
  return (
    <>
      <Toggles
        legend="When"
        options={[
          ['now', 'Now'],
          ['planned', 'Planned'],
          ['weekly', 'Every week'],
        ]}
        isOn={(each) => each === when}
        onToggle={(each) => change({ when: each })}
      />
      <Field
        label="Reason"
        value={reason}
        maxLength={LIMITS.gateReason}
        placeholder="INC-42"
        onInput={setReason}
        autofocus
      />
      <div class="fields">
        {when === 'planned' && (
          <Field
            label="From"
            type="datetime-local"
            value={localOf(from)}
            onInput={(text) => change({ from: instantOf(text) })}
          />
        )}
        {when === 'weekly' ? (
          <Field
            label="Between"
            value={hours}
            placeholder="all day, or 16:00-08:00"
            onInput={(text) => change({ hours: text.trim() })}
          />
        ) : (
          <Field
            label="For"
            value={lasts}
            placeholder="until a user opens it"
            onInput={(text) => change({ lasts: text.trim() })}
          />
        )}
        {clusters.value.length > 0 && (
          <div class="stack field">
            <span>Cluster</span>
            <ClusterChoice none="Choose…" />
          </div>
        )}
        <div class="stack field">
          <span>Namespace</span>
          <Select
            label="Namespace of the freeze"
            value={namespace}
            options={[...known].sort().map((each) => [each, each])}
            onChange={(each) => change({ namespace: each })}
          />
        </div>
      </div>
      {when === 'weekly' ? (
        <Toggles
          legend={`Days, ${freeze.timezone}`}
          options={DAYS.map((day) => [day, day])}
          isOn={(day) => days.includes(day)}
          onToggle={(day) => change({ days: toggled(days, day) })}
        />
      ) : (
        <Toggles
          legend="Usual ends"
          options={presets(when === 'planned' && from ? new Date(from) : new Date(now.value))}
          isOn={(each) => each === lasts}
          onToggle={(each) => change({ lasts: each })}
        />
      )}
      <Toggles
        legend="Held kinds"
        options={FROZEN_KINDS.map((kind) => [kind, `${kind}s`])}
        isOn={(kind) => kinds.includes(kind)}
        onToggle={(kind) => change({ kinds: toggled(kinds, kind) })}
      />
      <Toggles
        legend="Where"
        options={[
          ['', `in ${namespace}`],
          ['all', 'in all namespaces'],
        ]}
        isOn={(each) => (each === 'all') === isOfAll}
        onToggle={(each) => change({ isOfAll: each === 'all' })}
      />
      <Field
        label="Name of the Gate"
        value={freeze.name}
        placeholder={name}
        onInput={(text) => change({ name: text.trim() })}
      />
    </>
  );
}

function Holds({ preview }: { preview: Preview | undefined }) {
  return (
    <div class="holds" aria-live="polite">
      {preview ? (
        <>
          <strong>{preview.count === 0 ? 'It would hold nothing now.' : `It would hold ${preview.count}:`}</strong>
          <ul class="line">
            {preview.objects.map(({ kind, namespace, name }) => (
              <li key={`${kind}/${namespace}/${name}`}>
                {kind} {namespace}/{name}
              </li>
            ))}
          </ul>
          {preview.unread.map((text) => (
            <p key={text}>Not read: {text}</p>
          ))}
        </>
      ) : (
        'Checking what it would hold…'
      )}
    </div>
  );
}

/** The value of a `datetime-local` field: a time in the browser's time zone, without the zone. */
function localOf(time: string): string {
  if (!time) return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function instantOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : formatTime(date.getTime());
}
