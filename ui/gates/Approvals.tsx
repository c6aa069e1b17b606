/** The approvals of each version at a Gate: given, not counting, and missing ones. */
import type { ApprovalView } from '../../client/explain/approvalViews.ts';
import { Badge } from '../elements/Badge.tsx';
import { Panel } from '../elements/Panel.tsx';
import { Sentence } from '../parts/Sentence.tsx';
import { Ago } from '../parts/Time.tsx';
import { linkTo } from '../state/route.ts';

export function Approvals({ rule, approvals }: { rule: string; approvals: readonly ApprovalView[] }) {
  return (
    <Panel id="approvals" title="Approvals">
      <p class="meta">{rule}.</p>
      {approvals.length === 0 && <p>No version waits for an approval.</p>}
      <ul class="stack approvals">
        {approvals.map((approval) => (
          <Version key={`${approval.rollout}:${approval.version}`} approval={approval} />
        ))}
      </ul>
    </Panel>
  );
}

function Version({ approval: { rollout, version, text, enough, waits, given } }: { approval: ApprovalView }) {
  return (
    <li>
      <p>
        <span class="version">{version}</span> of <a href={linkTo.rollout(rollout)}>{rollout}</a>{' '}
        {enough ? (
          <Badge tone="good" icon="done">
            enough
          </Badge>
        ) : (
          waits && (
            <Badge tone="held" icon="waits">
              waits
            </Badge>
          )
        )}
      </p>
      <p>
        <Sentence text={text} />
      </p>
      <ul>
        {given.map(({ by, at, reason, doesNotCount }) => (
          <li key={by}>
            <strong>{by}</strong> <Ago time={at} />
            {reason && `: ${reason}`}
            {doesNotCount && ` (does not count: ${doesNotCount})`}
          </li>
        ))}
      </ul>
    </li>
  );
}
