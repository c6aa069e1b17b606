/** What main.ts hands to the receiver's routes: the server imports no decisions of its own accord. */
import type { GateDecisions } from '../../api/ports.ts';
import { flaggerAnswer, flaggerGate } from './flagger.ts';
import { judgeCall } from './signedCall.ts';
import { webhookPath } from './webhookPath.ts';

export const gateDecisions: GateDecisions = { webhookPath, judgeCall, flaggerGate, flaggerAnswer };
