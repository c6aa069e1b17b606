/** What main.ts hands to the receiver's routes: the server imports no decisions of its own accord. */
import type { GateDecisions } from '../../api/ports.ts';
import { flaggerAnswer, flaggerGate } from './flagger.ts';
import { checkCall, judgeCall } from './signedCall.ts';
import { tokenBytes } from './token.ts';
import { webhookPath } from './webhookPath.ts';

export const gateDecisions: GateDecisions = {
  tokenBytes,
  webhookPath,
  checkCall,
  judgeCall,
  flaggerGate,
  flaggerAnswer,
};
